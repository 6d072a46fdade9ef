// SPDX-License-Identifier: MIT
/* What the threads of a runtime are at: tasks and GPUs. */
#include "libptsched/base/be_prompt.hpp"
#include "libptsched/tasks/here.hpp"

namespace ptsched::tasks {

namespace {

/* Cycles since somebody was at it. */
constexpr std::uint64_t recently_served = 6000;
/* Between looks of the thread that helps out. */
constexpr std::chrono::microseconds rhythm{300};
/* Between looks of who has nothing else to do. */
constexpr std::chrono::microseconds pause{20};

} // namespace

void CoreImpl::work()
{
    work_until([this] { return stops_.load(std::memory_order_acquire); }, no_limit());
}

bool CoreImpl::work_until(const Crew::Condition &done, Clock::time_point until)
{
    const Here &here = Here::get();
    return crew_.work_until(lane(), here.core != this || here.task, done, until);
}

/* While workers are at long functions, GPUs have somebody who serves them. */
void CoreImpl::help()
{
    be_prompt();
    const SleepingPlace place;
    Here::get() = {this, &lanes_.shared(), nullptr};
    if (trace_)
        trace_->name_this_thread("helper");
    const auto stops = [this] { return stops_.load(std::memory_order_acquire); };
    while (!stops()) {
        helper_.wait_until(no_limit(), [&] { return stops() || gpu_->is_busy(); });
        while (!stops() && gpu_->is_busy()) {
            serve();
            place.avoid(woken_from_.load(std::memory_order_relaxed));
            std::this_thread::sleep_for(rhythm);
        }
    }
}

/* Who has just done it has what it takes in his processor's caches: others do it if he does not come back. */
bool CoreImpl::serve()
{
    if (!has_to_serve())
        return false;
    if (checker_)
        return serve_alone();
    const Lane *const server = server_.load(std::memory_order_relaxed), *const mine = &lane();
    if (server != mine && __builtin_ia32_rdtsc() - served_.load(std::memory_order_relaxed) < recently_served)
        return false;
    server_.store(mine, std::memory_order_relaxed);
    serves_.store(true, std::memory_order_relaxed);
    const bool some = gpu_->serve();
    serves_.store(false, std::memory_order_relaxed);
    /* What came meanwhile was left to this thread, which may be at a long function now: see ready_on_gpu(). */
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (gpu_->is_busy() && helper_.any_asleep())
        helper_.wake();
    served_.store(__builtin_ia32_rdtsc(), std::memory_order_relaxed);
    return some;
}

bool CoreImpl::has_to_serve() const
{
    return gpu_ && (gpu_->is_busy() || alone_count_.load(std::memory_order_acquire));
}

/* The next task is given when the one before has ended. */
bool CoreImpl::serve_alone()
{
    const Checker::Serving serving;
    if (!serving)
        return false;
    if (gpu_->is_busy())
        return gpu_->serve();
    {
        Guard lock(alone_mutex_);
        if (alone_ready_.empty())
            return false;
        alone_ = alone_ready_.front();
        alone_ready_.pop_front();
        alone_count_.store(alone_ready_.size(), std::memory_order_release);
    }
    checker_->begin_on_gpu(*alone_);
    gpu_->ready(*alone_);
    return gpu_->serve();
}

/* For who has the GPUs to himself. */
void CoreImpl::settle()
{
    while (gpu_ && gpu_->is_busy())
        if (!gpu_->serve())
            std::this_thread::sleep_for(pause);
}

} // namespace ptsched::tasks
