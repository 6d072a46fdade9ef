/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_SPMD_WORDCOUNT_JOB_HPP
#define SAMPLES_SPMD_WORDCOUNT_JOB_HPP

#include <ptsched/spmd.hpp>

namespace ptsched::samples::wordcount {

/* What is_space() says. */
spmd::Records separators();
/* On the CPU. */
spmd::Job<spmd::Bytes, std::uint64_t> counting(spmd::Input input);

} // namespace ptsched::samples::wordcount

#endif /* SAMPLES_SPMD_WORDCOUNT_JOB_HPP */
