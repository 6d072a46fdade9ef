/* SPDX-License-Identifier: MIT */
/*
 * What decides whose work the device does. The engine tells what happens, with a time that never falls, and asks after
 * each event, and at the time that the last answer named.
 */
#ifndef PTSIM_SCHEDULER_HPP
#define PTSIM_SCHEDULER_HPP

#include "tools/ptsim/units.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ptsim {

/* What a scheduler knows of a program. Ids are dense, and begin at 0. */
struct Task {
    std::uint32_t id;
    std::uint32_t user;
    int nice;
    std::uint32_t weight;
};

/* Device time that a task had: the kernels, and the hand-over to it before them. */
struct Run {
    Ns device_ns = 0;
    Ns gpu_ns = 0;
    std::uint32_t kernels = 0; /* that ended */
};

/* Whose context is on the device, and how much is left of the kernel that it has begun, if any. */
struct OnDevice {
    const Task *task = nullptr;
    Ns kernel_left_ns = 0;
};

struct Decision {
    const Task *task = nullptr; /* nullptr: nobody's work */
    bool at_once = true; /* a kernel that has begun is taken off, where the device can do that; else it ends first */
    Ns again_at = kNever;
};

struct Machine {
    Ns slice_ns = 30 * kMs;
    Ns handover_ns = 100 * kUs;
    bool preemptible = true;
};

class Scheduler {
public:
    virtual ~Scheduler() = default;

    virtual void join(const Task &task, Ns now) = 0;
    virtual void leave(const Task &task, Ns now) = 0; /* it sleeps */
    virtual void wake(const Task &task, Ns now) = 0;  /* it has work from now on */
    virtual void sleep(const Task &task, Ns now) = 0; /* it has none any more */
    virtual void ran(const Task &task, const Run &run, Ns now) = 0;
    virtual Decision decide(const OnDevice &on, Ns now) = 0;
};

struct SchedulerKind {
    std::string name;
    std::string title;
    std::unique_ptr<Scheduler> (*make)(const Machine &machine, std::uint64_t seed);
    bool ours = false;    /* the project's policy, whose bound on lag is checked */
    bool compared = true; /* in the tables of the whole report */
};

const std::vector<SchedulerKind> &scheduler_kinds();

/* nullptr: there is none of that name. */
const SchedulerKind *find_scheduler(const std::string &name);

} // namespace ptsim

#endif
