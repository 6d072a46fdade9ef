/* SPDX-License-Identifier: MIT */
/* Figures 2 to 6 of the paper, as tables, by what the programs have recorded. */
#ifndef SAMPLES_ARENA_SUMMARY_FIGURES_HPP
#define SAMPLES_ARENA_SUMMARY_FIGURES_HPP

#include "samples/common/values.hpp"

#include <array>
#include <optional>
#include <string>

namespace ptsched::arena_summary {

/* The paper's four; a world is what they are for. */
constexpr std::array<const char *, 4> workloads{"black-scholes", "fft", "quake", "art"};

/* How many times what @workload has as @over is what it has as @of; empty if there is not both. */
std::optional<double> ratio_of(const samples::Values &values, const std::string &workload, const std::string &of,
                               const std::string &over);

/* On standard output; a dash where there is no record. */
void print_figures(const samples::Values &values);

} // namespace ptsched::arena_summary

#endif /* SAMPLES_ARENA_SUMMARY_FIGURES_HPP */
