/* SPDX-License-Identifier: MIT */
/* Words counted from a file to a file: by spmd, and by whatever command somebody names. */
#ifndef SAMPLES_SPMD_WORDCOUNT_AGAINST_HPP
#define SAMPLES_SPMD_WORDCOUNT_AGAINST_HPP

#include "samples/spmd/common/by_spmd.hpp"
#include "samples/spmd/wordcount/problem.hpp"

namespace ptsched::samples::wordcount {

/*
 * @command is run by sh, with the variable TEXT naming a file, and prints the words of that file, each with a space or
 * a tab behind it, and how many there are, in any order. Records wordcount/file_ms, wordcount/against_ms and
 * wordcount/over-against; if @settings say so, the results are compared and nothing is recorded. Throws Error if the
 * command fails, takes more than @seconds, prints something else or counts otherwise. What it writes to make files is
 * gone when it returns. One rank.
 */
void measure_against(Problem &problem, const Settings &settings, const SpmdSettings &spmd, Report &report,
                     const std::string &command, unsigned seconds);

} // namespace ptsched::samples::wordcount

#endif /* SAMPLES_SPMD_WORDCOUNT_AGAINST_HPP */
