// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/workers.hpp"

#include "libptsched/base/no_signals.hpp"

#include <utility>

namespace ptsched::spmd {

Workers::Workers(unsigned threads, std::chrono::microseconds linger) : linger_(linger)
{
    const NoSignals no_signals;
    try {
        for (unsigned i = 0; i < threads; i++)
            threads_.emplace_back([this, i] { run(i); });
    } catch (...) {
        end();
        throw;
    }
}

Workers::~Workers()
{
    end();
}

void Workers::end()
{
    {
        const Guard guard(mutex_);
        ends_ = true;
        given_++;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_)
        thread.join();
}

void Workers::give(Work work)
{
    bool are_enough;
    {
        const Guard guard(mutex_);
        waiting_.push_back(std::move(work));
        given_++;
        are_enough = waiting_.size() <= looking_;
    }
    if (!are_enough)
        changed_.notify_one();
}

/* Until there is something, or for as long as it lingers. */
void Workers::look(Lock &lock)
{
    const std::size_t seen = given_;
    looking_++;
    {
        const Unlocked unlocked(lock, mutex_);
        const auto until = std::chrono::steady_clock::now() + linger_;
        while (given_ == seen && std::chrono::steady_clock::now() < until)
            std::this_thread::yield();
    }
    looking_--;
}

void Workers::run(unsigned number)
{
    Lock lock(mutex_);
    bool lingers = false;
    for (;;) {
        if (std::exchange(lingers, false) && waiting_.empty() && !ends_)
            look(lock);
        while (waiting_.empty() && !ends_)
            changed_.wait(lock);
        if (waiting_.empty())
            return;
        Work work = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        work(number);
        work = nullptr;
        lock.lock();
        lingers = linger_.count() > 0;
    }
}

} // namespace ptsched::spmd
