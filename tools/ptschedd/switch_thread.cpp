// SPDX-License-Identifier: MIT
#include "tools/ptschedd/switch_thread.hpp"

#include "libptsched/base/be_prompt.hpp"
#include "libptsched/base/no_signals.hpp"
#include "libptsched/rm/rm_channels.hpp"
#include "tools/ptschedd/log.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <system_error>

int ptsched::rm::driver_ioctl(int fd, unsigned long request, void *argument)
{
    return ::ioctl(fd, request, argument);
}

namespace ptsched {

namespace {

int carry_out(const std::vector<ChannelSet> &sets, SwitchThread::Action action)
{
    bool off = action == SwitchThread::Action::off;
    int result = 0;
    if (action == SwitchThread::Action::none)
        return 0;
    for (const ChannelSet &set : sets) {
        std::string error = rm::switch_channels(set.file->get(), set.client, set.subdevice, set.channels, off);
        if (error.empty())
            continue;
        debug("channels could not be switched %s: %s", off ? "off" : "on", error.c_str());
        result = -EIO;
    }
    return result;
}

} // namespace

SwitchThread::SwitchThread(EventLoop &loop) : loop_(loop), finished_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!finished_fd_)
        throw std::system_error(errno, std::generic_category(), "eventfd");
    key_ = loop_.add(finished_fd_.get(), EPOLLIN, [this](std::uint32_t) { finish(); });
    /* Signals are the main thread's. */
    NoSignals for_it;
    thread_ = std::thread([this] { work(); });
}

SwitchThread::~SwitchThread()
{
    {
        Guard guard(lock_);
        stopping_ = true;
    }
    given_.notify_one();
    thread_.join();
    loop_.remove(key_, finished_fd_.get());
}

void SwitchThread::give(std::vector<ChannelSet> sets, Action action, Done done)
{
    {
        Guard guard(lock_);
        jobs_.push_back({std::move(sets), action, std::move(done), 0});
    }
    given_.notify_one();
}

void SwitchThread::work()
{
    const SleepingPlace place;
    Lock guard(lock_);
    for (;;) {
        place.avoid(cpu_to_leave_.load(std::memory_order_relaxed));
        given_.wait(guard, [this]() PTSCHED_REQUIRES(lock_) { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty())
            return;
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        guard.unlock();
        job.result = carry_out(job.sets, job.action);
        /* Who has ended has its control file closed elsewhere. */
        job.sets.clear();
        guard.lock();
        finished_.push_back(std::move(job));
        eventfd_write(finished_fd_.get(), 1);
    }
}

void SwitchThread::finish()
{
    eventfd_t count;
    eventfd_read(finished_fd_.get(), &count);
    std::vector<Job> finished;
    {
        Guard guard(lock_);
        finished.swap(finished_);
    }
    for (Job &job : finished)
        job.done(job.result);
}

} // namespace ptsched
