// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/server.hpp"

#include "libptsched/base/no_signals.hpp"

#include <sys/prctl.h>

namespace ptsched::arena::detail {

namespace {

/* So many rounds without anything to do before the thread pauses in each, and then naps. */
constexpr unsigned prompt_rounds = 4000, most_idle_rounds = 20000;
/* A nap is not ended by who calls a kernel, which would take him long; nor is there a call for each. */
constexpr std::chrono::microseconds nap{20};
/* So many naps with no call begun before it sleeps until there is one. */
constexpr unsigned most_naps = 500;

thread_local const Server *looks_for = nullptr;

} // namespace

Server::Server(std::function<bool(Server &)> look, unsigned most_threads)
    : look_(std::move(look)), most_threads_(most_threads)
{
    const NoSignals no_signals;
    Guard lock(mutex_);
    threads_.emplace_back([this] { work(); });
}

void Server::stop()
{
    stops_ = true;
    news_.wake();
    crew_.wake();
    for (;;) {
        std::thread thread;
        {
            Guard lock(mutex_);
            if (threads_.empty())
                return;
            thread = std::move(threads_.back());
            threads_.pop_back();
        }
        thread.join();
    }
}

bool Server::is_looking() const
{
    return looks_for == this;
}

bool Server::take_over()
{
    return !somebody_looks_.load(std::memory_order_relaxed) &&
           !somebody_looks_.exchange(true, std::memory_order_acquire);
}

void Server::work()
{
    /* What the kernel adds to a nap, unless it is asked for less, is more than the nap. */
    prctl(PR_SET_TIMERSLACK, 1000);
    while (!stops_) {
        free_++;
        bool has = false;
        crew_.wait_until(no_limit(), [&] { return stops_ || (has = take_over()); });
        free_--;
        if (has)
            look_on();
    }
}

void Server::look_on()
{
    looks_for = this;
    unsigned idle_rounds = 0;
    while (is_looking() && !stops_) {
        if (look_(*this))
            idle_rounds = 0;
        else if (++idle_rounds > most_idle_rounds && rest(idle_rounds))
            idle_rounds = 0;
        else if (idle_rounds > prompt_rounds)
            __builtin_ia32_pause();
    }
    if (is_looking()) {
        looks_for = nullptr;
        somebody_looks_.store(false, std::memory_order_release);
        crew_.wake();
    }
}

/* Whether a call has begun after there was none for a while. */
bool Server::rest(unsigned idle_rounds)
{
    if (idle_rounds < most_idle_rounds + most_naps || begun_.load(std::memory_order_relaxed)) {
        std::this_thread::sleep_for(nap);
        return false;
    }
    news_.sleep_until(no_limit(), [this] { return stops_ || begun_.load(std::memory_order_acquire); });
    return true;
}

bool Server::hand_over()
{
    if (!free_) {
        Guard lock(mutex_);
        if (threads_.size() >= most_threads_ || stops_)
            return false;
        const NoSignals no_signals;
        threads_.emplace_back([this] { work(); });
    }
    looks_for = nullptr;
    somebody_looks_.store(false, std::memory_order_release);
    crew_.wake();
    return true;
}

} // namespace ptsched::arena::detail
