/* SPDX-License-Identifier: MIT */
/* Measurements that need a process with another driver, or with fewer GPUs. */
#ifndef PTSCHED_PAPER_CHILD_HPP
#define PTSCHED_PAPER_CHILD_HPP

#include <map>
#include <string>
#include <vector>

namespace ptsched::paper {

/*
 * Runs bench-ptask with @arguments and the environment of this process changed by @variables; the numbers that it
 * prints. Throws Error if it fails or prints none.
 */
std::vector<double> numbers_of_child(const std::vector<std::string> &arguments,
                                     const std::map<std::string, std::string> &variables);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_CHILD_HPP */
