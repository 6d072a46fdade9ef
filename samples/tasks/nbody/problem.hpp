/* SPDX-License-Identifier: MIT */
/* Bodies that attract each other, all of them: by blocks of bodies. */
#ifndef SAMPLES_TASKS_NBODY_PROBLEM_HPP
#define SAMPLES_TASKS_NBODY_PROBLEM_HPP

#include "samples/tasks/common/modes.hpp"
#include "samples/tasks/nbody/body.h"

namespace ptsched::nbody {

struct Shape {
    unsigned count, block, steps; /* a block is a multiple of the threads of a thread block, and has a part of them */
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    void restore(Vector *bodies, Vector *velocities) const;
    void check(std::span<const Vector> bodies, const std::string &by);

private:
    std::vector<Vector> bodies_, velocities_;
    samples::Expected<float> expected_{2e-3}; /* of how far they come: their places are rounded */
};

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, tasks::Memory memory);

} // namespace ptsched::nbody

#endif /* SAMPLES_TASKS_NBODY_PROBLEM_HPP */
