/* SPDX-License-Identifier: MIT */
/*
 * How far from the fluid schedule the project's policy lets a program be, where all have work all the time.
 *
 * Let s be the slice in force, k(i) what is left of a kernel of i at most when it is called back, and h a hand-over.
 *
 * Ahead. A budget B(i) begins at 0, rises by i's part of the fluid schedule and falls by the device time of i: the lag
 * of i is -B(i). The turn is granted with B >= 0. It ends after a slice for an equal or a heavier program; for lighter
 * ones when B < 0, which is looked at each sixteenth of a slice at the latest. Then the kernel drains. So no lag is
 * more than
 *     D(i) = s + s/16 + k(i) + h.
 *
 * Behind. While i waits with B(i) >= 0, only programs with budget that are not lighter begin a turn. Let U be these and
 * i. From the instant on since which one of U has waited with budget or had the turn, the sum of B over U has risen by
 * U's part of the time at most, and fallen by all of it but for one turn of a lighter program that was under way, which
 * ends within D. So the sum of B over U is at most D, and B(i) at most that and what the others of U are in debt: the
 * lag of i is no less than
 *     -(max D + the sum of D(j) over the others that are not lighter).
 * This takes it that no budget is cut at the cap of two slices while its program waits or has the turn.
 *
 * Stride scheduling and EEVDF keep lags within about a slice and a kernel, however many programs there are.
 */
#ifndef PTSIM_BOUND_HPP
#define PTSIM_BOUND_HPP

#include "tools/ptsim/scenario.hpp"

namespace ptsim {

struct LagBound {
    double ahead_ns;
    double behind_ns;
};

/* By program. */
std::vector<LagBound> lag_bounds(const Scenario &scenario);

} // namespace ptsim

#endif
