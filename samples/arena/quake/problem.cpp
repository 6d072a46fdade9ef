// SPDX-License-Identifier: MIT
#include "samples/arena/quake/problem.hpp"

namespace ptsched::quake {

namespace {

constexpr std::size_t most_on_host = 1000; /* nodes */
constexpr std::size_t part = std::size_t{1} << 14;

double size_of(const Vector &vector)
{
    return std::sqrt(vector.x * vector.x + vector.y * vector.y + vector.z * vector.z);
}

/* For the checks. */
std::vector<double> numbers_of(std::span<const Motion> motions)
{
    const double *const first = &motions[0].at[0].x;
    return {first, first + motions.size() * sizeof(Motion) / sizeof(double)};
}

/* What the motion of all nodes comes to, element by element, without a matrix of all. */
std::vector<Vector> forces_of(const Ground &ground, const std::vector<Motion> &motions, unsigned parity)
{
    std::vector<Vector> forces(motions.size());
    for (const Corners4 &corners : ground.elements)
        for (unsigned i = 0; i < 4; i++)
            for (unsigned j = 0; j < 4; j++) {
                const Matrix matrix = stiffness_of(ground, corners, i, j);
                const Vector &of = motions[corners[j]].at[parity];
                Vector &sum = forces[corners[i]];
                sum.x += matrix[0] * of.x + matrix[1] * of.y + matrix[2] * of.z;
                sum.y += matrix[3] * of.x + matrix[4] * of.y + matrix[5] * of.z;
                sum.z += matrix[6] * of.x + matrix[7] * of.y + matrix[8] * of.z;
            }
    return forces;
}

double step_of(double mass, double damping, double now, double before, double force)
{
    const double damped = 0.5 * seconds * damping;
    return (2 * mass * now - (mass - damped) * before - seconds * seconds * force) / (mass + damped);
}

void step(const Ground &ground, std::vector<Motion> &motions, unsigned parity, double push)
{
    std::vector<Vector> forces = forces_of(ground, motions, parity);
    forces[ground.source].z -= push;
    for (std::size_t i = 0; i < motions.size(); i++) {
        const Vector now = motions[i].at[parity];
        Vector &next = motions[i].at[1 - parity];
        next = {step_of(ground.mass[i], ground.damping[i], now.x, next.x, forces[i].x),
                step_of(ground.mass[i], ground.damping[i], now.y, next.y, forces[i].y),
                step_of(ground.mass[i], ground.damping[i], now.z, next.z, forces[i].z)};
    }
}

float strain_of(const Ground &ground, const std::vector<Motion> &motions, unsigned parity)
{
    double largest = 0;
    const auto difference = [](const Vector &one, const Vector &other) {
        return size_of({one.x - other.x, one.y - other.y, one.z - other.z});
    };
    for (const Corners4 &corners : ground.elements)
        for (const unsigned one : corners)
            for (const unsigned other : corners)
                if (one != other)
                    largest = std::max(largest, difference(motions[one].at[parity], motions[other].at[parity]) /
                                                    difference(ground.places[one], ground.places[other]));
    return static_cast<float>(largest);
}

} // namespace

Mesh::Mesh(const Ground &ground, std::pmr::memory_resource &memory, std::pmr::memory_resource &exchange)
    : nodes(samples::array_of<Node>(memory, ground.places.size())),
      motions(samples::array_of<Motion>(memory, ground.places.size())),
      elements(samples::array_of<Element>(memory, ground.elements.size())),
      blocks(samples::array_of<Block>(memory, ground.blocks.size())),
      source(samples::array_of<Source>(exchange, 1).data()), report(samples::array_of<Report>(exchange, 1).data())
{
}

std::size_t Mesh::bytes(const Ground &ground)
{
    constexpr std::size_t pages = 8 * 4096; /* between arrays */
    return ground.places.size() * (sizeof(Node) + sizeof(Motion)) + ground.elements.size() * sizeof(Element) +
           ground.blocks.size() * sizeof(Block) + sizeof(Source) + sizeof(Report) + pages;
}

void Mesh::restore(const Ground &ground) const
{
    samples::in_parts(nodes.size(), part, [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; i++) {
            const unsigned row = ground.first[i], end = ground.first[i + 1];
            motions[i] = {};
            nodes[i] = {ground.places[i], ground.mass[i], ground.damping[i], &motions[i], &blocks[row],
                        end - row,        nullptr};
            for (unsigned j = row; j < end; j++) {
                std::ranges::copy(ground.blocks[j], blocks[j].stiffness);
                blocks[j].of = &motions[ground.columns[j]];
            }
        }
    });
    samples::in_parts(elements.size(), part, [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; i++)
            for (unsigned j = 0; j < 4; j++)
                elements[i].corners[j] = &nodes[ground.elements[i][j]];
    });
    *source = {};
    source->node = &nodes[ground.source];
    *report = {};
    for (std::size_t i = 0; i < ground.stations.size(); i++)
        nodes[ground.stations[i]].record = report->motion[i];
}

Problem::Problem(Shape of) : shape(of), ground(of.side)
{
    if (ground.places.size() <= most_on_host)
        compute();
}

/* Less where the ground is about to break. */
void Problem::prepare(Source &source, Report &report, unsigned time, float strain) const
{
    const double strength = 1 / (1 + 10 * static_cast<double>(strain));
    for (unsigned i = 0; i < shape.steps; i++) {
        const double at = (time * shape.steps + i) * seconds - 2;
        source.push[i] = strength * (1 - 2 * at * at) * std::exp(-at * at);
    }
    report.strain = 0;
}

void Problem::read(const Report &report, std::vector<double> &peaks) const
{
    for (std::size_t i = 0; i < ground.stations.size(); i++) {
        double peak = 0;
        for (unsigned j = 0; j < shape.steps; j++)
            peak = std::max(peak, size_of(report.motion[i][j]));
        peaks.push_back(peak);
    }
}

/* By the host, in another way. */
void Problem::compute()
{
    std::vector<Motion> motions(ground.places.size());
    std::vector<double> peaks;
    const auto source = std::make_unique<Source>();
    const auto report = std::make_unique<Report>();
    for (unsigned time = 0, i = 0; time < shape.times; time++) {
        prepare(*source, *report, time, report->strain);
        for (unsigned j = 0; j < shape.steps; j++, i++) {
            step(ground, motions, i % 2, source->push[j]);
            for (std::size_t k = 0; k < ground.stations.size(); k++)
                report->motion[k][j] = motions[ground.stations[k]].at[1 - i % 2];
        }
        report->strain = strain_of(ground, motions, i % 2);
        read(*report, peaks);
    }
    motion_.set(numbers_of(motions));
    peaks_.set(std::move(peaks));
}

void Problem::check(const Mesh &mesh, const std::vector<double> &peaks)
{
    motion_.check(numbers_of(mesh.motions), "the ground's motion");
    peaks_.check(peaks, "the largest motion at the stations");
}

/*
 * A block is nine doubles, and the motion of a node three; an element has four nodes, each with a place. Threads keep
 * the rest in registers.
 */
samples::Accesses Problem::accesses() const
{
    const double nodes = static_cast<double>(ground.places.size()), blocks = static_cast<double>(ground.blocks.size());
    const double of_step = 26 * blocks + 30 * nodes;
    const double of_strain = 4 * 14.0 * static_cast<double>(ground.elements.size());
    return {shape.times * (shape.steps * of_step + of_strain), 0};
}

void Shaking::run()
{
    peaks_.clear();
    begin();
    for (unsigned time = 0; time < problem.shape.times; time++) {
        problem.prepare(*mesh().source, *mesh().report, time, mesh().report->strain);
        end(samples::Part::host);
        shake(time * problem.shape.steps);
        problem.read(*mesh().report, peaks_);
    }
    end(samples::Part::host);
    finish();
}

} // namespace ptsched::quake
