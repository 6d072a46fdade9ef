/* SPDX-License-Identifier: MIT */
/*
 * Task Bench's metric, METG(50 %): the minimum effective task granularity. The granularity of a run is its time by the
 * number of its tasks, for each that can run at once; its efficiency is what it computes in a time, relative to what
 * tasks that are long do. METG is the least granularity whose efficiency is 50 % still.
 */
#ifndef SAMPLES_TASKBENCH_METG_HPP
#define SAMPLES_TASKBENCH_METG_HPP

#include "samples/tasks/taskbench/runner.hpp"

namespace ptsched::taskbench {

struct Effort {
    unsigned rounds;
    double seconds; /* of a run, at least, if that needs no more steps */
    unsigned most_steps;
};

/* Iterations in a second on one lane, by tasks of some 2 ms. */
double peak_rate(Runner &runner, Grid grid, const Effort &effort);

struct Metg {
    double median_us, least_us, most_us; /* of the rounds at the number of iterations that was found */
    unsigned long iterations;
    double efficiency; /* near 0.5, and not less */
};
/* @peak: of who is best, as peak_rate() has found. @grid.steps does not matter. Results are checked. */
Metg find_metg(Runner &runner, Grid grid, double peak, const Effort &effort);

} // namespace ptsched::taskbench

#endif /* SAMPLES_TASKBENCH_METG_HPP */
