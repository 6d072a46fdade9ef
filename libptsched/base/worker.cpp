// SPDX-License-Identifier: MIT
#include "libptsched/base/worker.hpp"

#include "libptsched/base/no_signals.hpp"
#include <ptsched/base/chrono_clock.hpp>
#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <utility>

namespace ptsched {

std::string system_error_text(const std::string &what)
{
    return what + ": " + std::strerror(errno);
}

namespace {

UniqueFd event_for(const std::stop_token &token)
{
    if (!token.stop_possible())
        return {};
    UniqueFd event = above_streams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event)
        throw Error(system_error_text("eventfd"));
    return event;
}

/* For poll(), which counts in whole ones: not too early, and before a clock's end. */
int milliseconds_until(const Deadline &deadline)
{
    using std::chrono::milliseconds;
    if (!deadline)
        return -1;
    const auto stretch = std::chrono::ceil<milliseconds>(Clock::stretch_until(*deadline));
    return static_cast<int>(std::min(stretch, milliseconds(INT_MAX)).count());
}

} // namespace

void Stop::Wake::operator()() const noexcept
{
    eventfd_write(fd, 1);
}

Stop::Stop(std::stop_token token) : token_(std::move(token)), fd_(event_for(token_)), wake_(token_, Wake{fd_.get()}) {}

bool Stop::await(int fd, short events, const Deadline &deadline) const
{
    pollfd waited[] = {{fd, events, 0}, {fd_.get(), POLLIN, 0}};

    /* poll() says nothing of what could not be opened, and that of a closed one: who uses it learns what is wrong. */
    if (fd < 0)
        return !requested();
    for (;;) {
        int found = poll(waited, 2, milliseconds_until(deadline));
        if (found < 0 && errno != EINTR)
            throw Error(system_error_text("poll"));
        if (requested())
            return false;
        if (found > 0 && waited[0].revents)
            return true;
        if (deadline && Clock::now() >= *deadline)
            return false;
    }
}

Worker::Worker(Body body)
{
    /* Who writes to a pipe without reader gets an error instead. */
    NoSignals for_it;
    thread_ = std::thread([this, body = std::move(body)] { run(body); });
}

Worker::~Worker()
{
    request_stop();
    thread_.join();
}

void Worker::run(const Body &body)
{
    std::exception_ptr error;
    try {
        body(stop_);
    } catch (...) {
        error = std::current_exception();
    }
    Guard lock(mutex_);
    error_ = std::move(error);
    ended_ = true;
    changed_.notify_all();
}

void Worker::wait()
{
    Lock lock(mutex_);
    changed_.wait(lock, [this]() PTSCHED_REQUIRES(mutex_) { return ended_; });
    if (error_)
        std::rethrow_exception(error_);
}

} // namespace ptsched
