/* SPDX-License-Identifier: MIT */
/*
 * An earthquake on an unstructured mesh: the GPU takes time steps; the host reads what stations at the surface have
 * recorded, and says how the source goes on.
 */
#ifndef SAMPLES_ARENA_QUAKE_PROBLEM_HPP
#define SAMPLES_ARENA_QUAKE_PROBLEM_HPP

#include "samples/arena/common/resources.hpp"
#include "samples/arena/common/variants.hpp"
#include "samples/arena/quake/ground.hpp"

namespace ptsched::quake {

struct Shape {
    unsigned side, times, steps; /* how often the host reads, and steps between */
};

/* Where a variant has the data, as the host sees it: all that is linked by pointers. */
struct Mesh {
    /* What is said of the source and read of the stations can be in another memory than the ground. */
    Mesh(const Ground &ground, std::pmr::memory_resource &memory, std::pmr::memory_resource &exchange);
    /* All of it as at first. */
    void restore(const Ground &ground) const;
    static std::size_t bytes(const Ground &ground);
    std::span<Node> nodes;
    std::span<Motion> motions;
    std::span<Element> elements;
    std::span<Block> blocks; /* in the order of nodes */
    Source *source;
    Report *report;
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    const Ground ground;
    /* Before some steps: what the source does, if such a strain was found. */
    void prepare(Source &source, Report &report, unsigned time, float strain) const;
    /* After them: the largest motion at each station since the last time, added to @peaks. */
    void read(const Report &report, std::vector<double> &peaks) const;
    void check(const Mesh &mesh, const std::vector<double> &peaks);
    samples::Accesses accesses() const;

private:
    void compute();
    samples::Expected<double> motion_{1e-6}, peaks_{1e-6};
};

constexpr double seconds = 0.1; /* of a step */

/* All but how data comes from one side to the other. */
class Shaking : public samples::Variant {
public:
    Shaking(Problem &problem, const std::string &module) : Variant(module), problem(problem) {}
    void restore() final { mesh().restore(problem.ground); }
    void run() final;
    void check() final { problem.check(mesh(), peaks_); }

protected:
    virtual const Mesh &mesh() const = 0;
    /* The ground is on the host. */
    virtual void begin() = 0;
    /* Steps, of which @first is the first, from the host's source to a report that the host may read. */
    virtual void shake(unsigned first) = 0;
    /* The motion is to be on the host. */
    virtual void finish() = 0;

    /* The steps of shake(), on what the kernels @step and @strain take. */
    template <typename View>
    void launch(CUfunction step, CUfunction strain, const View &view, unsigned first, float *largest) const;
    Problem &problem;

private:
    std::vector<double> peaks_;
};

template <typename View>
void Shaking::launch(CUfunction step, CUfunction strain, const View &view, unsigned first, float *largest) const
{
    const unsigned nodes = static_cast<unsigned>(problem.ground.places.size());
    const unsigned elements = static_cast<unsigned>(problem.ground.elements.size());
    const unsigned end = first + problem.shape.steps;
    for (unsigned i = first; i < end; i++)
        samples::driver::launch(step, gpu.stream, {(nodes * lanes + threads - 1) / threads}, {threads}, view, nodes,
                                i - first, i % 2, seconds);
    samples::driver::launch(strain, gpu.stream, {(elements + threads - 1) / threads}, {threads}, view, elements,
                            end % 2, largest);
}

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module);
std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing);

} // namespace ptsched::quake

#endif /* SAMPLES_ARENA_QUAKE_PROBLEM_HPP */
