/* SPDX-License-Identifier: MIT */
/* From the pairs of a bucket to its results, and from several buckets' to one. */
#ifndef PTSCHED_SPMD_RUN_REDUCE_HPP
#define PTSCHED_SPMD_RUN_REDUCE_HPP

#include "libptsched/spmd/pairs/run.hpp"

#include <functional>

namespace ptsched::spmd {

/*
 * Each key's values are combined, if the program does that, in the order of the runs' places; then reduced. A job of
 * maps alone has its pairs in that order. Throws Error, which names the key, for what the program's functions throw.
 */
Run reduce_runs(const Program &program, const std::shared_ptr<Spill> &spill, std::vector<Run> runs);

/* Calls @each for every pair of several runs, in the order of keys. */
void for_each_pair(const Program &program, std::vector<Run> runs,
                   const std::function<void(std::string_view key, std::string_view value)> &each);

/* Appends every pair of several runs, in the order of keys. */
void append_all(const Program &program, std::vector<Run> runs, Pairs &to);

/* A key as errors name it. */
std::string name_of_key(const Program &program, std::string_view key);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_REDUCE_HPP */
