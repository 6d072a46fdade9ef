/* SPDX-License-Identifier: MIT */
/* What replays ask of who runs the graph. */
#ifndef PTSCHED_PTASK_REPLAY_RUNNER_HPP
#define PTSCHED_PTASK_REPLAY_RUNNER_HPP

#include "libptsched/ptask/devices/graph_devices.hpp"
#include "libptsched/ptask/replay/replay.hpp"

#include <vector>

namespace ptsched::ptask {

class Runner {
public:
    virtual Mutex &mutex() const PTSCHED_RETURNS_LOCK(graph_lock) = 0;
    virtual GraphDevices &devices() PTASK_LOCKED = 0;
    /* Whether somebody asks what was done when; then, of sets of a subgraph that a CUDA graph did. */
    virtual bool keeps_timeline() const PTASK_LOCKED = 0;
    virtual void replayed(const device::Device &device, const Replay &replay, const Subgraph &subgraph,
                          const Replay::Moved &moved, Clock::time_point began,
                          Clock::time_point ended) PTASK_LOCKED = 0;

    /* Nothing begins any more; nor after a failure. */
    virtual bool is_stopping() const PTASK_LOCKED = 0;
    virtual bool has_failed() const PTASK_LOCKED = 0;
    /* Nothing goes on, and nothing can be begun. */
    virtual bool is_idle() const PTASK_LOCKED = 0;
    /* Whether a task is due, and whether one is that does not run on the host. */
    virtual bool any_due() const PTASK_LOCKED = 0;
    virtual bool any_due_on_devices() const PTASK_LOCKED = 0;

    /* The task is due, in the order of tasks; whether it is, since something has come that it may have waited for. */
    virtual void add_due(TaskImpl &task) PTASK_LOCKED = 0;
    virtual void look_at(TaskImpl &task) PTASK_LOCKED = 0;
    /* A token was taken from the channel; another comes, for which there is room. */
    virtual void took_from(Channel &channel) PTASK_LOCKED = 0;
    virtual void put_into(Channel &channel, Token &&token) PTASK_LOCKED = 0;
    /* The tasks' set, at the device; with a Fault, all that it has. */
    virtual void fail(std::vector<const TaskImpl *> tasks, const GraphDevice &graph_device,
                      const std::exception &error) PTASK_LOCKED = 0;

    /* The lock was let go for long. */
    virtual void time_passed() PTASK_LOCKED = 0;
    /* What is left to do is the graph's thread's. */
    virtual void hand_over() PTASK_LOCKED = 0;
    /* From now on the replayer is to be looked at, though nothing is announced. */
    virtual void begin_to_watch() PTASK_LOCKED = 0;

protected:
    ~Runner() = default;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_RUNNER_HPP */
