// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/workers.hpp"

#include "libptsched/base/no_signals.hpp"

namespace ptsched::spmd {

Workers::Workers(unsigned threads)
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
    }
    changed_.notify_all();
    for (std::thread &thread : threads_)
        thread.join();
}

void Workers::give(Work work)
{
    {
        const Guard guard(mutex_);
        waiting_.push_back(std::move(work));
    }
    changed_.notify_one();
}

void Workers::run(unsigned number)
{
    Lock lock(mutex_);
    for (;;) {
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
    }
}

} // namespace ptsched::spmd
