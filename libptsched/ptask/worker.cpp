// SPDX-License-Identifier: MIT
#include "worker.hpp"

#include "device.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>

namespace ptsched::ptask {

using device::Error;

std::string system_error_text(const std::string &what)
{
    return what + ": " + std::strerror(errno);
}

Deadline deadline_in(const std::optional<std::chrono::nanoseconds> &timeout)
{
    using Clock = std::chrono::steady_clock;
    const auto now = Clock::now();

    /* What is too far away to be a time never comes. */
    if (!timeout || *timeout > Clock::time_point::max() - now)
        return {};
    return now + *timeout;
}

int until(const Deadline &deadline)
{
    if (!deadline)
        return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : static_cast<int>(left);
}

Stop::Stop() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!fd_)
        throw Error(system_error_text("eventfd"));
}

bool Stop::await(int fd, short events, const Deadline &deadline) const
{
    pollfd waited[] = {{fd, events, 0}, {fd_.get(), POLLIN, 0}};

    for (;;) {
        int found = poll(waited, 2, until(deadline));
        if (found < 0 && errno != EINTR)
            throw Error(system_error_text("poll"));
        if (requested() || found == 0)
            return false;
        if (found > 0 && waited[0].revents)
            return true;
    }
}

Worker::Worker(Body body)
{
    stop_.token_ = source_.get_token();
    thread_ = std::thread([this, body = std::move(body)] { run(body); });
}

Worker::~Worker()
{
    request_stop();
    thread_.join();
}

void Worker::run(const Body &body)
{
    sigset_t all;
    sigfillset(&all);
    /* They are the program's; and who writes to a pipe without reader gets an error instead. */
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::exception_ptr error;
    try {
        std::stop_callback wake(stop_.token_, [this] { eventfd_write(stop_.fd(), 1); });
        body(stop_);
    } catch (...) {
        error = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    error_ = error;
    ended_ = true;
    changed_.notify_all();
}

bool Worker::ended() const
{
    std::lock_guard lock(mutex_);
    return ended_;
}

void Worker::wait()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    if (error_)
        std::rethrow_exception(error_);
}

} // namespace ptsched::ptask
