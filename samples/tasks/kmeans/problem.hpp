/* SPDX-License-Identifier: MIT */
/* Clusters of samples by Lloyd's iteration: by blocks of samples. */
#ifndef SAMPLES_TASKS_KMEANS_PROBLEM_HPP
#define SAMPLES_TASKS_KMEANS_PROBLEM_HPP

#include "samples/tasks/common/modes.hpp"
#include "samples/tasks/kmeans/sizes.h"

namespace ptsched::kmeans {

struct Shape {
    unsigned block, blocks, iterations; /* samples in one; how many of them */
    std::size_t block_floats() const { return std::size_t{block} * dimensions; }
    std::size_t floats() const { return block_floats() * blocks; }
    /* Of threads, that assign a block's samples. */
    unsigned grid() const
    {
        constexpr unsigned at_once = threads * samples_of_thread;
        return (block + at_once - 1) / at_once;
    }
};
constexpr std::size_t centre_floats = clusters * dimensions;

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    /* Samples are by blocks, and in these by dimensions. */
    void restore(float *samples, float *centres) const;
    void check(std::span<const float> centres, const std::string &by) { expected_.check(centres, "the centres " + by); }

private:
    void compute();

    std::vector<float> samples_, centres_;
    samples::Expected<float> expected_{1e-3}; /* sums in another order */
};

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, tasks::Memory memory);

} // namespace ptsched::kmeans

#endif /* SAMPLES_TASKS_KMEANS_PROBLEM_HPP */
