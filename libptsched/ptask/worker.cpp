// SPDX-License-Identifier: MIT
#include "worker.hpp"

#include "device.hpp"

#include <cerrno>
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

Stop::Stop() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!fd_)
        throw Error(system_error_text("eventfd"));
}

bool Stop::await(int fd, short events) const
{
    pollfd waited[] = {{fd, events, 0}, {fd_.get(), POLLIN, 0}};

    for (;;) {
        int found = poll(waited, 2, -1);
        if (found < 0 && errno != EINTR)
            throw Error(system_error_text("poll"));
        if (requested())
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

void Worker::wait()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    if (error_)
        std::rethrow_exception(error_);
}

} // namespace ptsched::ptask
