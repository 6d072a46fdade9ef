/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_TASKS_HOTSPOT_CHIP_H
#define SAMPLES_TASKS_HOTSPOT_CHIP_H

namespace ptsched::hotspot {

/* What heat does in a chip of so many cells, by a step in time; as Rodinia's program has it. */
struct Chip {
    float step_by_capacity;    /* seconds by joules a kelvin */
    float by_rx, by_ry, by_rz; /* reciprocals of resistances: to the neighbours in a row, in a column, and to the air */
    float ambient;
};

/* A cell's temperature after a step. */
#ifdef __CUDACC__
__device__
#endif
    inline float
    next(const Chip &chip, float own, float left, float right, float above, float below, float power)
{
    return own + chip.step_by_capacity * (power + (left + right - 2 * own) * chip.by_rx +
                                          (above + below - 2 * own) * chip.by_ry + (chip.ambient - own) * chip.by_rz);
}

} // namespace ptsched::hotspot

#endif /* SAMPLES_TASKS_HOTSPOT_CHIP_H */
