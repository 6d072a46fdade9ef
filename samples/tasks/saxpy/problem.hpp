/* SPDX-License-Identifier: MIT */
/* y += a x, by blocks. */
#ifndef SAMPLES_TASKS_SAXPY_PROBLEM_HPP
#define SAMPLES_TASKS_SAXPY_PROBLEM_HPP

#include "samples/tasks/common/modes.hpp"

namespace ptsched::saxpy {

constexpr float a = 2.5F;
constexpr unsigned threads = 256; /* of a thread block */

struct Shape {
    std::size_t count, block; /* elements; the first is a multiple of the second */
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    void restore(float *x, float *y) const;
    void check(std::span<const float> y, const std::string &by) { expected_.check(y, "the sum " + by); }

private:
    std::vector<float> x_, y_;
    samples::Expected<float> expected_{1e-6};
};

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, tasks::Memory memory);

} // namespace ptsched::saxpy

#endif /* SAMPLES_TASKS_SAXPY_PROBLEM_HPP */
