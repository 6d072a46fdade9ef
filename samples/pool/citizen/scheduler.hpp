/* SPDX-License-Identifier: MIT */
/* A broker for the GPUs, on a socket of its own, and the programs that it schedules. */
#ifndef SAMPLES_POOL_CITIZEN_SCHEDULER_HPP
#define SAMPLES_POOL_CITIZEN_SCHEDULER_HPP

#include "samples/pool/citizen/child.hpp"

#include <memory>
#include <optional>

namespace ptsched::pool::bench {

struct Statistics {
    unsigned submissions = 0, preemptions = 0;
};

/*
 * ptschedd and libptsched-preload.so are those that PTSCHEDD and PTSCHED_PRELOAD name, else those of the build tree
 * that this program is in.
 */
class Scheduler {
public:
    /* Found, from now on, by this process and by what start() starts. Throws Error if it does not start. */
    explicit Scheduler(const std::vector<std::string> &devices);
    ~Scheduler();
    Scheduler(const Scheduler &) = delete;
    Scheduler &operator=(const Scheduler &) = delete;

    /* This program in another role. With @level it is under the interposer, which goes no further than that. */
    std::unique_ptr<Child> start(std::vector<std::string> role, std::optional<int> nice, const std::string &level = {});
    /* What the interposer says of what start() started with a level and was the last to end. */
    Statistics statistics() const;

private:
    std::string in_folder(const std::string &name) const { return folder_ + "/" + name; }

    const std::string folder_; /* a new one */
    std::unique_ptr<Child> broker_;
};

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_CITIZEN_SCHEDULER_HPP */
