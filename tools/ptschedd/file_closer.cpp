// SPDX-License-Identifier: MIT
#include "tools/ptschedd/file_closer.hpp"

#include "libptsched/base/no_signals.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>

namespace ptsched {

FileCloser::FileCloser(EventLoop &loop, Close close)
    : loop_(loop), close_(std::move(close)), idle_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!idle_fd_)
        throw std::system_error(errno, std::generic_category(), "eventfd");
    key_ = loop_.add(idle_fd_.get(), EPOLLIN, [this](std::uint32_t) {
        eventfd_t count;
        eventfd_read(idle_fd_.get(), &count);
    });
    /* Signals are the main thread's. */
    NoSignals for_it;
    thread_ = std::thread([this] { work(); });
}

FileCloser::~FileCloser()
{
    {
        Guard guard(lock_);
        stopping_ = true;
    }
    given_.notify_one();
    thread_.join();
    loop_.remove(key_, idle_fd_.get());
}

std::shared_ptr<const UniqueFd> FileCloser::keep(UniqueFd file)
{
    return {new UniqueFd(std::move(file)), [this](UniqueFd *kept) {
                give(std::move(*kept));
                delete kept;
            }};
}

bool FileCloser::is_busy() const
{
    Guard guard(lock_);
    return closing_ || !files_.empty();
}

void FileCloser::give(UniqueFd file)
{
    {
        Guard guard(lock_);
        files_.push_back(std::move(file));
    }
    given_.notify_one();
}

void FileCloser::work()
{
    Lock guard(lock_);
    for (;;) {
        given_.wait(guard, [this]() PTSCHED_REQUIRES(lock_) { return stopping_ || !files_.empty(); });
        if (files_.empty())
            return;
        UniqueFd file = std::move(files_.front());
        files_.pop_front();
        closing_ = true;
        guard.unlock();
        close_(std::move(file));
        guard.lock();
        closing_ = false;
        if (files_.empty())
            eventfd_write(idle_fd_.get(), 1);
    }
}

} // namespace ptsched
