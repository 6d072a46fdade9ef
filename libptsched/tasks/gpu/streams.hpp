/* SPDX-License-Identifier: MIT */
/* The streams of one device, and the tasks that are to be given to them. */
#ifndef PTSCHED_TASKS_GPU_STREAMS_HPP
#define PTSCHED_TASKS_GPU_STREAMS_HPP

#include "libptsched/tasks/gpu/ahead.hpp"
#include "libptsched/tasks/gpu/placement.hpp"
#include "libptsched/tasks/gpu/ready_list.hpp"
#include "libptsched/tasks/gpu/side.hpp"
#include "libptsched/tasks/gpu/visit.hpp"
#include "libptsched/tasks/seen/trace.hpp"

#include <functional>

namespace ptsched::tasks {

/* A counter that one thread changes and all may read. */
class Counter {
public:
    std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }
    void add(std::uint64_t more) { value_.store(value() + more, std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/* All but what is said of others is for the thread that serves. */
class Streams {
public:
    /* How many a device has: as many for tasks with a priority, which are not to stand behind others, as for those. */
    static unsigned count(const Options &options) { return 2 * options.streams; }
    /* @first: the number of its first stream, of @all. Throws Error if the device cannot be used so. */
    Streams(device::Device &device, unsigned index, const Options &options, unsigned first, unsigned all,
            Directory &directory, Placement &placement, GpuListener &listener);
    Streams(const Streams &) = delete;
    Streams &operator=(const Streams &) = delete;

    /* A task that is to run here, when it may. */
    void push(Task &task) { waiting_.push({&task, ready_at(task)}, now_); }
    /* See GpuSide::expect(); any thread. */
    void expect(Task &task) { ahead_.expect(task); }
    /* Gives what it may, and no more than @most; returns how many. After each, @take may push what that made ready. */
    unsigned give(unsigned most, const std::function<void()> &take);
    /* Looks what has ended; returns how many have. */
    unsigned collect();
    /* Whether a queue has work. */
    bool has_work() { return in_flight_ != 0 || ahead_.is_copying(); }
    /* Tasks that have not ended. */
    std::size_t load() const { return in_flight_ + waiting_.size(); }
    /* The device is not given anything now, and has nothing: others may have it. */
    void leave();

    device::Device &device() const { return *site_.device; }
    Visit &visit() { return visit_; }

    /* Any thread may ask. */
    std::uint64_t ended() const { return ended_.value(); }
    std::uint64_t stream_waits() const { return stream_waits_.value(); }
    std::uint64_t batches() const { return batches_.value(); }

private:
    /* Of tasks that are in flight where turns are: others wait until they have ended. */
    static constexpr std::size_t most_in_a_turn = 64;

    /* Some of its streams; of several that would do as well, they are taken in turn, @next first. */
    struct Group {
        unsigned first, count, next = 0;
        bool has(unsigned stream) const { return stream - first < count; }
    };

    /* @priority: of their queues. */
    void add_streams(const Group &group, unsigned all, int priority, const std::string &name);
    void tell_time();
    Estimate ready_at(Task &task) const;
    Estimate free_at() const;
    Estimate free_at(const Stream &stream) const { return stream.in_flight() ? stream.until() : now_; }
    bool is_here(const Position &position) const
    {
        return position.stream && position.stream->number() - first_number_ < streams_.size();
    }
    /* Null: all that it may be given to have as much as they may. */
    Stream *choose(Task &task, Estimate ready);
    void give(Task &task, Stream &stream, Estimate ready);
    void follow(Task &task, Stream &stream);
    /* With what it uses in place. */
    void give_in_place(Task &task, Stream &stream, Stream::Given &given);
    void call(Task &task, Stream &stream, Stream::Given &given);
    static bool is_asked_for(const Task &task);
    std::uint64_t copied() const { return directory_.bytes_to_devices() + directory_.bytes_between(); }
    void end(Stream::Given &given);

    Site site_;
    Directory &directory_;
    Placement &placement_;
    GpuListener &listener_;
    const unsigned first_number_;
    std::vector<std::unique_ptr<Stream>> streams_;
    Group ordinary_, urgent_;
    const std::unique_ptr<device::Code> code_; /* calls the task's function with the device's context */
    const std::vector<void *> no_arguments_;
    Visit visit_;
    Ahead ahead_;

    std::vector<Trace::Row *> rows_; /* of the streams; empty: nobody looks at them */

    Uses uses_;
    Task *calling_ = nullptr; /* its function is called */
    Stream *calling_on_ = nullptr;

    ReadyList waiting_;
    Estimate now_ = 0; /* when the oldest task in flight has begun */
    std::size_t in_flight_ = 0;
    Counter ended_, stream_waits_, batches_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_STREAMS_HPP */
