// SPDX-License-Identifier: MIT
#include "samples/tasks/nbody/problem.hpp"

#include <random>

namespace ptsched::nbody {

namespace {

constexpr unsigned most_on_host = 2048;

Vector acceleration_of(const Vector &own, const std::vector<Vector> &bodies)
{
    Vector sum{};
    for (const Vector &other : bodies) {
        const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
        const float inverse = 1 / std::sqrt(x * x + y * y + z * z + softening);
        const float force = other.mass * inverse * inverse * inverse;
        sum.x += force * x;
        sum.y += force * y;
        sum.z += force * z;
    }
    return sum;
}

void step(std::vector<Vector> &bodies, std::vector<Vector> &velocities)
{
    std::vector<Vector> accelerations;
    for (const Vector &body : bodies)
        accelerations.push_back(acceleration_of(body, bodies));
    for (std::size_t i = 0; i < bodies.size(); i++) {
        velocities[i].x += seconds * accelerations[i].x;
        velocities[i].y += seconds * accelerations[i].y;
        velocities[i].z += seconds * accelerations[i].z;
        bodies[i].x += seconds * velocities[i].x;
        bodies[i].y += seconds * velocities[i].y;
        bodies[i].z += seconds * velocities[i].z;
    }
}

/* How far each has come. */
std::vector<float> ways_of(std::span<const Vector> bodies, const std::vector<Vector> &from)
{
    std::vector<float> ways;
    for (std::size_t i = 0; i < from.size(); i++)
        ways.insert(ways.end(), {bodies[i].x - from[i].x, bodies[i].y - from[i].y, bodies[i].z - from[i].z});
    return ways;
}

} // namespace

Problem::Problem(Shape of) : shape(of), bodies_(of.count), velocities_(of.count)
{
    std::minstd_rand source(1);
    std::uniform_real_distribution<float> values(-1, 1);
    for (Vector &body : bodies_)
        body = {values(source), values(source), values(source), 1.0F / static_cast<float>(of.count)};
    if (of.count > most_on_host)
        return;
    std::vector<Vector> bodies(bodies_), velocities(velocities_);
    for (unsigned i = 0; i < of.steps; i++)
        step(bodies, velocities);
    expected_.set(ways_of(bodies, bodies_));
}

void Problem::restore(Vector *bodies, Vector *velocities) const
{
    samples::copy_all(bodies_, bodies);
    samples::copy_all(velocities_, velocities);
}

void Problem::check(std::span<const Vector> bodies, const std::string &by)
{
    expected_.check(ways_of(bodies, bodies_), "where bodies are " + by);
}

} // namespace ptsched::nbody
