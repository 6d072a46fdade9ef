/* SPDX-License-Identifier: MIT */
/*
 * A queue of a device, with the tasks that it has been given and that have not ended. A position in it is reached when
 * a marker there or behind is: markers are made for who is known to ask, or who asks, and serve all who ask for
 * something up to there.
 */
#ifndef PTSCHED_TASKS_GPU_STREAM_HPP
#define PTSCHED_TASKS_GPU_STREAM_HPP

#include "libptsched/tasks/gpu/ready_list.hpp"
#include <ptsched/base/chrono_clock.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace ptsched::tasks {

/* All but has_ended() is for the thread that serves. */
class Stream {
public:
    /* Of tasks that it has at once: more would fill the driver's own queues, where who gives them waits. */
    static constexpr std::size_t most = 256;

    /* What is to be known of a task until it has ended. */
    struct Given {
        Task *task = nullptr;
        std::exception_ptr failure = nullptr;
        std::unique_ptr<device::Watch> watch = nullptr; /* null: it is not measured */
        /* For a timeline: when it was given, and what was copied for it. */
        Clock::time_point begun{};
        std::uint64_t bytes = 0;
        /* When it is likely to end, see ReadyList. */
        Estimate until = 0;
    };

    /* @number: of @all streams of the runtime. @now: its device's estimate of when the oldest task there has begun. */
    Stream(std::unique_ptr<device::Queue> queue, unsigned number, unsigned all, const Estimate &now);
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    device::Queue &queue() { return *queue_; }
    unsigned number() const { return number_; }
    /* Of the task that was given last; 0: none was. */
    std::uint64_t last() const { return last_; }
    bool has_ended(std::uint64_t position) const { return position <= ended_.load(std::memory_order_acquire); }
    std::size_t in_flight() const { return last_ - ended_.load(std::memory_order_relaxed); }
    bool is_full() const { return in_flight() >= most; }
    /* When one that has not ended is likely to, or the last one, see Given. */
    Estimate until(std::uint64_t position) const { return given_[position % most].until; }
    /* How long that is from now on. */
    Estimate left(std::uint64_t position) const { return std::max(until(position), now_) - now_; }
    Estimate until() const { return given_[last_ % most].until; }

    /* What is given from now on comes after that. Returns whether the queue has to wait for it. */
    bool follow(const Position &position);
    /* The queue has it. */
    Position add(Given given);
    /* For what has no marker yet, if no more than a few are on the way: those come first. */
    void mark_tail() noexcept;
    /* For other streams that are to follow what was given last. */
    void mark_tail_for_others() noexcept;
    /*
     * Looks at the markers: @end(Given &) is called for each task that has ended, in order. Returns whether there was
     * one. What fails a task before a marker fails all since the one before.
     */
    template <typename End> bool collect(End end);

private:
    static constexpr std::size_t most_marks = 2;

    struct Mark {
        std::uint64_t position;
        device::MarkerPtr marker;
    };
    const Mark &mark_at(std::uint64_t position);
    const Mark &mark();
    std::size_t reached_marks();

    const std::unique_ptr<device::Queue> queue_;
    const unsigned number_;
    const Estimate &now_;
    std::uint64_t last_ = 0;
    std::atomic<std::uint64_t> ended_{0};
    std::vector<Given> given_; /* by their positions, modulo most */
    std::deque<Mark> marks_;
    std::exception_ptr broken_;          /* not null: there can be no marker, and nobody knows when what it has ends */
    std::vector<std::uint64_t> follows_; /* of each stream: up to where */
};

template <typename End> bool Stream::collect(End end)
{
    std::uint64_t reached = ended_.load(std::memory_order_relaxed);
    const std::uint64_t before = reached;
    std::exception_ptr failure = std::exchange(broken_, nullptr);
    if (failure) {
        marks_.clear();
        reached = last_;
    }
    std::size_t marks = 0;
    try {
        marks = reached_marks();
    } catch (...) {
        failure = std::current_exception();
        marks = 1;
    }
    if (marks) {
        reached = marks_[marks - 1].position;
        marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(marks));
    }
    for (std::uint64_t position = before + 1; position <= reached; position++) {
        Given given = std::move(given_[position % most]);
        ended_.store(position, std::memory_order_release);
        if (!given.failure)
            given.failure = failure;
        end(given);
    }
    return reached != before;
}

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_STREAM_HPP */
