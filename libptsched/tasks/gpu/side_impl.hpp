/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_GPU_SIDE_IMPL_HPP
#define PTSCHED_TASKS_GPU_SIDE_IMPL_HPP

#include "libptsched/tasks/gpu/distribution.hpp"
#include "libptsched/tasks/gpu/streams.hpp"
#include <ptsched/base/chrono_clock.hpp>

#include <deque>

namespace ptsched::tasks {

class GpuSideImpl final : public GpuSide {
public:
    GpuSideImpl(const Options &options, GpuListener &listener);
    ~GpuSideImpl() override = default;

    void expect(Task &task) override;
    void ready(Task &task) override;
    bool serve() override;
    bool is_busy() const override { return work_.load(std::memory_order_acquire) != 0; }
    bool bring_home(Task &task) override;
    bool bring_home(const Range *range) override;
    std::optional<Position> last_writer(const Range &range) override { return directory_.last_writer(range); }
    bool has_ended(const Position &position) const override { return Directory::has_ended(position); }
    bool prefers_gpu(const Task &task) override { return placement_.prefers_gpu(task); }
    void ran_on_host(const Task &task, std::chrono::nanoseconds time) override { placement_.ran_on_host(task, time); }
    void *allocate(std::size_t bytes, Memory memory) override;
    void release(void *memory) noexcept override;
    void keep_on_devices(void *memory) override;
    bool is_kept(const Range &range) override { return arrays_.find(range.begin).is_kept; }
    void count(State &state) const override;

private:
    /* Of one call of serve(), so that who serves has time for other things, too. */
    static constexpr unsigned most_at_once = 256;
    /* Looks in vain in a row at what is on its way to the host, oldest first, before the rest is left for later. */
    static constexpr unsigned most_looks = 4;

    bool serve_alone() PTSCHED_REQUIRES(serving_);
    void take_ready() PTSCHED_REQUIRES(serving_);
    void place(Task *task) PTSCHED_REQUIRES(serving_);
    void distribute() PTSCHED_REQUIRES(serving_);
    unsigned give() PTSCHED_REQUIRES(serving_);
    unsigned collect() PTSCHED_REQUIRES(serving_);
    /* Tasks of the host whose copies are there. */
    unsigned collect_homes() PTSCHED_REQUIRES(serving_);
    /* Whether copies to the host may be begun, by any thread. */
    bool may_copy() const;
    /* Turns for what somebody waits for, and the end of those that are of no use any more. */
    void look_after_turns() PTSCHED_REQUIRES(serving_);
    void want_home(bool yes);

    GpuListener &listener_;
    const unsigned stream_count_;
    Arrays arrays_;
    Directory directory_;
    Placement placement_;
    Distribution distribution_;
    std::vector<std::unique_ptr<Streams>> gpus_; /* by their places in Options::devices; for the thread that serves */
    std::vector<std::size_t> loads_;
    const bool has_turns_;

    SmallMutex serving_;
    Clock::time_point collected_ PTSCHED_GUARDED_BY(serving_){}; /* when it was last asked what has ended */
    std::atomic<Task *> ready_{nullptr};                         /* the last one first */
    std::atomic<std::size_t> work_{0}; /* tasks that are ready, in flight, or wait for copies to the host */
    std::atomic<bool> wants_home_{
        false}; /* who waits for copies to the host, where those wait for a turn; counts too */
    std::atomic<Clock::rep> wanted_until_{0}; /* unless he asks again */

    SmallMutex homes_mutex_;
    std::deque<Task *> homes_ PTSCHED_GUARDED_BY(homes_mutex_);
    std::atomic<std::size_t> home_count_{0};
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_SIDE_IMPL_HPP */
