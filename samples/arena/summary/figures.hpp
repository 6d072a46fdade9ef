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

/* What @workload has as @name; empty if it has not run. */
std::optional<double> value_of(const samples::Values &values, const std::string &workload, const std::string &name);

/* On standard output; a dash where there is no record. */
void print_figures(const samples::Values &values);

} // namespace ptsched::arena_summary

#endif /* SAMPLES_ARENA_SUMMARY_FIGURES_HPP */
