/* SPDX-License-Identifier: MIT */
/* The temperature of a chip from its power, a stencil after that of Rodinia: by bands of rows. */
#ifndef SAMPLES_TASKS_HOTSPOT_PROBLEM_HPP
#define SAMPLES_TASKS_HOTSPOT_PROBLEM_HPP

#include "samples/tasks/common/modes.hpp"
#include "samples/tasks/hotspot/chip.h"

namespace ptsched::hotspot {

constexpr unsigned threads_x = 32, threads_y = 8; /* of a thread block */

struct Shape {
    unsigned side, bands, steps; /* as many rows as columns; bands have the same number of rows */
    unsigned rows() const { return side / bands; }
    std::size_t cells() const { return std::size_t{side} * side; }
    std::size_t band_cells() const { return std::size_t{rows()} * side; }
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    const Chip chip;
    void restore(float *temperature, float *power) const;
    void check(std::span<const float> temperature, const std::string &by)
    {
        expected_.check(temperature, "the temperature " + by);
    }

private:
    std::vector<float> temperature_, power_;
    samples::Expected<float> expected_{1e-5};
};

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, tasks::Memory memory);

} // namespace ptsched::hotspot

#endif /* SAMPLES_TASKS_HOTSPOT_PROBLEM_HPP */
