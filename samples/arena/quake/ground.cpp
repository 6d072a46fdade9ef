// SPDX-License-Identifier: MIT
#include "samples/arena/quake/ground.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace ptsched::quake {

namespace {

constexpr double density = 1, compression = 1, shear = 1; /* of what is elastic: Lamé's constants */
constexpr double dampings = 0.02;                         /* of masses */

Vector operator-(const Vector &one, const Vector &other)
{
    return {one.x - other.x, one.y - other.y, one.z - other.z};
}

Vector cross(const Vector &one, const Vector &other)
{
    return {one.y * other.z - one.z * other.y, one.z * other.x - one.x * other.z, one.x * other.y - one.y * other.x};
}

double dot(const Vector &one, const Vector &other)
{
    return one.x * other.x + one.y * other.y + one.z * other.z;
}

double volume_of(const Ground &ground, const Corners4 &corners)
{
    const Vector &origin = ground.places[corners[0]];
    return std::abs(dot(ground.places[corners[1]] - origin,
                        cross(ground.places[corners[2]] - origin, ground.places[corners[3]] - origin))) /
           6;
}

/* Of the function that is 1 at this corner, 0 at others, and linear. */
Vector gradient_of(const Ground &ground, const Corners4 &corners, unsigned i)
{
    const auto place = [&](unsigned by) -> const Vector & { return ground.places[corners[(i + by) % 4]]; };
    const Vector normal = cross(place(2) - place(1), place(3) - place(1));
    const double scale = 1 / dot(normal, place(0) - place(1));
    return {scale * normal.x, scale * normal.y, scale * normal.z};
}

} // namespace

Matrix stiffness_of(const Ground &ground, const Corners4 &corners, unsigned i, unsigned j)
{
    const Vector one = gradient_of(ground, corners, i), other = gradient_of(ground, corners, j);
    const double a[] = {one.x, one.y, one.z}, b[] = {other.x, other.y, other.z};
    const double volume = volume_of(ground, corners), both = shear * dot(one, other);
    Matrix made{};
    for (unsigned row = 0; row < 3; row++)
        for (unsigned column = 0; column < 3; column++)
            made[3 * row + column] =
                volume * (compression * a[row] * b[column] + shear * a[column] * b[row] + (row == column ? both : 0));
    return made;
}

Ground::Ground(unsigned side)
{
    make_places(side);
    make_elements(side);
    find_neighbours();
    add_up();
}

/* Near the corners of cubes. */
void Ground::make_places(unsigned side)
{
    std::minstd_rand random(1);
    std::uniform_real_distribution<double> off(-0.15, 0.15);
    for (unsigned z = 0; z <= side; z++)
        for (unsigned y = 0; y <= side; y++)
            for (unsigned x = 0; x <= side; x++)
                places.push_back({x + off(random), y + off(random), z + off(random)});
}

/* Each of a cube's goes along its edges from one corner to the opposite one; nodes get numbers without an order. */
void Ground::make_elements(unsigned side)
{
    constexpr std::size_t window = 4096;
    const unsigned pitch = side + 1, steps[] = {1, pitch, pitch * pitch};
    std::vector<unsigned> numbers(places.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::minstd_rand random(2);
    for (std::size_t i = 0; i < numbers.size(); i += window)
        std::shuffle(numbers.begin() + static_cast<std::ptrdiff_t>(i),
                     numbers.begin() + static_cast<std::ptrdiff_t>(std::min(i + window, numbers.size())), random);
    for (unsigned cube = 0; cube < side * side * side; cube++) {
        const unsigned corner = cube % side + (cube / side % side) * pitch + cube / (side * side) * pitch * pitch;
        std::array<unsigned, 3> axes{0, 1, 2};
        do {
            Corners4 made{corner};
            for (unsigned i = 0; i < 3; i++)
                made[i + 1] = made[i] + steps[axes[i]];
            for (unsigned &one : made)
                one = numbers[one];
            elements.push_back(made);
        } while (std::ranges::next_permutation(axes).found);
    }
    const std::vector<Vector> ordered(places);
    for (std::size_t i = 0; i < ordered.size(); i++)
        places[numbers[i]] = ordered[i];
    source = numbers[side / 2 * (1 + pitch + pitch * pitch)];
    const std::size_t surface = std::size_t{pitch} * pitch, count = std::min<std::size_t>(quake::stations, surface);
    for (std::size_t i = 0; i < count; i++)
        stations.push_back(numbers[numbers.size() - surface + i * surface / count]);
}

void Ground::find_neighbours()
{
    std::vector<std::vector<unsigned>> of(places.size());
    for (const Corners4 &corners : elements)
        for (const unsigned node : corners)
            of[node].insert(of[node].end(), corners.begin(), corners.end());
    first.push_back(0);
    for (std::vector<unsigned> &nodes : of) {
        std::ranges::sort(nodes);
        columns.insert(columns.end(), nodes.begin(), std::unique(nodes.begin(), nodes.end()));
        first.push_back(static_cast<unsigned>(columns.size()));
    }
}

void Ground::add_up()
{
    mass.resize(places.size());
    blocks.resize(columns.size());
    for (const Corners4 &corners : elements) {
        const double share = density * volume_of(*this, corners) / 4;
        for (unsigned i = 0; i < 4; i++) {
            mass[corners[i]] += share;
            const auto begin = columns.begin() + first[corners[i]], end = columns.begin() + first[corners[i] + 1];
            for (unsigned j = 0; j < 4; j++) {
                const Matrix added = stiffness_of(*this, corners, i, j);
                Matrix &block =
                    blocks[static_cast<std::size_t>(std::lower_bound(begin, end, corners[j]) - columns.begin())];
                for (unsigned k = 0; k < added.size(); k++)
                    block[k] += added[k];
            }
        }
    }
    for (const double one : mass)
        damping.push_back(dampings * one);
}

} // namespace ptsched::quake
