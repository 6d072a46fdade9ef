/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_MEMBER_HPP
#define PTSCHED_SPMD_RUN_MEMBER_HPP

#include "libptsched/spmd/link/link.hpp"
#include "libptsched/spmd/run/machine.hpp"
#include "libptsched/spmd/run/workers.hpp"
#include "libptsched/spmd/schedule/pool.hpp"
#include <ptsched/spmd/core.hpp>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptsched::spmd {

/* A job's devices on one rank, which stay for its next run if it is kept. */
struct Devices {
    std::vector<std::unique_ptr<Engine>> engines; /* the CPU first */
    std::unique_ptr<Engine> combiner = {};        /* cores that combine what GPUs map, where none of the engines do */
    /* Bytes per second of each, as the last run has shown; empty: none has. */
    std::vector<double> rates = {};
    /* Of a kept job's last run: which of them has mapped what; on rank 0, which rank had which partition. */
    std::vector<schedule::Home> homes = {}, ranks = {};
    bool makes_few = false; /* pairs of all ranks, in a kept job's last run; on rank 0 */
};

/* What runs of a job have shown of a rank that has GPUs. */
struct Ways {
    struct Way {
        /* Bytes per second, mapped and sorted. Of one that was not taken lately it is thought to be better by now. */
        double rate = 0;
        unsigned runs = 0;
    };
    Way with_cores = {}, gpus_alone = {};
};

/* What plans of a run are made by. */
struct Known {
    std::optional<model::Machine> machine = {}; /* the rank's part of it; none: nobody knows it */
    bool is_given = false;                      /* by the program, and so what is missing in it is an error */
    bool again = false;                         /* the job is kept: its input stays where it is */
    Ways ways = {};                             /* not of kept jobs */
};

/* One rank: what it has as long as it is there. One thread at a time. */
class Member {
public:
    /* @known: of all ranks of this process. */
    Member(const Options &options, Link &link, std::shared_ptr<KnownMachine> known = std::make_shared<KnownMachine>());
    ~Member();

    Link &link() { return link_; }
    const Options &options() const { return options_; }
    Workers &workers() { return workers_; }
    std::size_t memory() const { return memory_; }
    bool is_first() const { return link_.rank() == 0; }

    /* Throws Error if there is a GPU that does not do. */
    Devices devices_for(const Program &program);
    /*
     * Bytes per second of each of these devices, as runs of that job have shown; @kept: with input that was there.
     * Empty if there were none, or one of the devices had no part.
     */
    std::vector<double> known_rates(const Program &program, const Devices &devices, bool kept) const;
    /* What a run has shown: half of what is known is that of the last one. */
    void learn_rates(const Program &program, const Devices &devices, bool kept, const std::vector<double> &rates);
    /* The same of all that a run has mapped with or without cores beside GPUs. */
    void learn_way(const Work &work, const Devices &devices, bool has_cores, double rate);
    struct Result {
        Pairs pairs;
        Report report;
    };
    /* See Core::run(). @devices are of that program. */
    Result run(const Work &work, Devices &devices, std::span<const std::byte> parameters, bool again);

    /* Messages of the next run, which has begun elsewhere. */
    std::deque<Message> early;

private:
    Known known_for(const Work &work, const Devices &devices, bool again);

    const Options options_;
    Link &link_;
    const std::shared_ptr<KnownMachine> known_;
    const std::shared_ptr<KnownFunctions> functions_;
    const std::size_t memory_;
    std::map<std::string, std::vector<double>> rates_; /* by jobs and devices */
    std::map<std::string, Ways> ways_;                 /* as they, and by how large the input is */
    Workers workers_;
    std::uint32_t runs_ = 0;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_MEMBER_HPP */
