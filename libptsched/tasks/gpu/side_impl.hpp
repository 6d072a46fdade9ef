/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_GPU_SIDE_IMPL_HPP
#define PTSCHED_TASKS_GPU_SIDE_IMPL_HPP

#include "libptsched/tasks/gpu/placement.hpp"

#include <deque>

namespace ptsched::tasks {

class GpuSideImpl final : public GpuSide {
public:
    GpuSideImpl(const Options &options, GpuListener &listener);
    ~GpuSideImpl() override = default;

    void ready(Task &task) override;
    bool serve() override;
    bool is_busy() const override { return work_.load(std::memory_order_acquire) != 0; }
    bool bring_home(Task &task) override;
    bool bring_home(const Range *range) override;
    bool prefers_gpu(const Task &task) override;
    void *allocate(std::size_t bytes, Memory memory) override;
    void release(void *memory) noexcept override;
    void count(State &state) const override;

private:
    /* Of one call of serve(), so that who serves has time for other things, too. */
    static constexpr unsigned most_at_once = 256;
    /* Looks in vain in a row at what is on its way to the host, oldest first, before the rest is left for later. */
    static constexpr unsigned most_looks = 4;

    bool serve_alone() PTSCHED_REQUIRES(serving_);
    void take_ready() PTSCHED_REQUIRES(serving_);
    unsigned give() PTSCHED_REQUIRES(serving_);
    unsigned collect() PTSCHED_REQUIRES(serving_);
    /* Tasks of the host whose copies are there. */
    unsigned collect_homes() PTSCHED_REQUIRES(serving_);

    GpuListener &listener_;
    const unsigned stream_count_;
    Arrays arrays_;
    Directory directory_;
    std::vector<std::unique_ptr<Streams>>
        gpus_; /* by their places in Options::devices; a thread that serves has them */
    Placement placement_;

    SmallMutex serving_;
    std::atomic<Task *> ready_{nullptr}; /* the last one first */
    std::atomic<std::size_t> work_{0};   /* tasks that are ready, in flight, or wait for copies to the host */

    SmallMutex homes_mutex_;
    std::deque<Task *> homes_ PTSCHED_GUARDED_BY(homes_mutex_);
    std::atomic<std::size_t> home_count_{0};
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_SIDE_IMPL_HPP */
