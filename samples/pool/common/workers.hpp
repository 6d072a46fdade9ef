/* SPDX-License-Identifier: MIT */
/* Threads that wait for something to do, as one has them who writes such a program by hand. */
#ifndef SAMPLES_POOL_COMMON_WORKERS_HPP
#define SAMPLES_POOL_COMMON_WORKERS_HPP

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace ptsched::samples {

/* One thread at a time gives them jobs. */
class Workers {
public:
    explicit Workers(unsigned count)
    {
        for (unsigned i = 0; i < count; i++)
            threads_.emplace_back([this] { work(); });
    }
    ~Workers()
    {
        is_over_ = true;
        start([] {});
    }

    /* All of them call @job, each once. */
    void start(std::function<void()> job)
    {
        job_ = std::move(job);
        busy_.store(static_cast<unsigned>(threads_.size()), std::memory_order_relaxed);
        jobs_.fetch_add(1, std::memory_order_release);
        jobs_.notify_all();
    }

    /* Until all have. */
    void wait()
    {
        for (unsigned busy; (busy = busy_.load(std::memory_order_acquire)) != 0;)
            busy_.wait(busy);
    }

private:
    void work()
    {
        for (unsigned seen = 0; !is_over_; seen++) {
            jobs_.wait(seen);
            job_();
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1)
                busy_.notify_all();
        }
    }

    std::function<void()> job_;
    std::atomic<unsigned> jobs_{0}, busy_{0};
    std::atomic<bool> is_over_{false};
    std::vector<std::jthread> threads_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_POOL_COMMON_WORKERS_HPP */
