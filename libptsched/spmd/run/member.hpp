/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_MEMBER_HPP
#define PTSCHED_SPMD_RUN_MEMBER_HPP

#include "libptsched/spmd/link/link.hpp"
#include "libptsched/spmd/run/engine.hpp"
#include "libptsched/spmd/run/workers.hpp"
#include <ptsched/spmd/core.hpp>

#include <deque>
#include <memory>
#include <vector>

namespace ptsched::spmd {

/* A job's devices on one rank, which stay for its next run if it is kept. */
struct Devices {
    std::vector<std::unique_ptr<Engine>> engines; /* the CPU first */
    /* Bytes per second of each, as the last run has shown; empty: none has. */
    std::vector<double> rates = {};
};

/* One rank: what it has as long as it is there. One thread at a time. */
class Member {
public:
    Member(const Options &options, Link &link);
    ~Member();

    Link &link() { return link_; }
    const Options &options() const { return options_; }
    Workers &workers() { return workers_; }
    std::size_t memory() const { return memory_; }
    bool is_first() const { return link_.rank() == 0; }

    /* Throws Error if there is a GPU that does not do. */
    Devices devices_for(const Program &program);
    struct Result {
        Pairs pairs;
        Report report;
    };
    /* See Core::run(). @devices are of that program. */
    Result run(const Work &work, Devices &devices, std::span<const std::byte> parameters, bool again);

    /* Messages of the next run, which has begun elsewhere. */
    std::deque<Message> early;

private:
    const Options options_;
    Link &link_;
    const std::size_t memory_;
    Workers workers_;
    std::uint32_t runs_ = 0;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_MEMBER_HPP */
