/* SPDX-License-Identifier: MIT */
#ifndef PTSIM_SCHEDULERS_ALL_HPP
#define PTSIM_SCHEDULERS_ALL_HPP

#include "tools/ptsim/scheduler.hpp"

namespace ptsim {

std::unique_ptr<Scheduler> make_weighted(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_weighted_idle_off(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_literal(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_literal_many(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_round_robin(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_lottery(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_stride(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_eevdf(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_drm_fair(const Machine &machine, std::uint64_t seed);
std::unique_ptr<Scheduler> make_fifo(const Machine &machine, std::uint64_t seed);

} // namespace ptsim

#endif
