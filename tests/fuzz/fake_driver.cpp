// SPDX-License-Identifier: MIT
/*
 * What the helper in the broker works with, without a driver and without threads, in place of libptsched/rm,
 * tools/ptschedd/switch_thread.cpp and file_closer.cpp: any memfd is a control file, and what is to be switched is
 * switched at once. The broker hears of it when its loop comes to that, as it does from the thread.
 */
#include "libptsched/rm/rm_channels.hpp"
#include "tools/ptschedd/file_closer.hpp"
#include "tools/ptschedd/switch_thread.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <tuple>

namespace ptsched {
namespace {

/* Whose calls the driver refuses. */
constexpr std::uint32_t kRefusedClient = 2;

/* So often is a channel off, which is one of a client of a control file. */
std::map<std::tuple<ino_t, std::uint32_t, std::uint32_t>, unsigned> times_off;

int switch_one(const ChannelSet &set, bool off)
{
    struct stat file {};
    fstat(set.file->get(), &file);
    for (std::uint32_t channel : set.channels) {
        unsigned &times = times_off[{file.st_ino, set.client, channel}];
        if (off && times++) {
            fputs("a channel that is off is taken off again, and would never be on any more\n", stderr);
            abort();
        }
        if (!off)
            times = 0;
    }
    return set.client == kRefusedClient ? -EIO : 0;
}

} // namespace

bool rm::is_control_device(int fd)
{
    return fcntl(fd, F_GET_SEALS) >= 0;
}

std::string rm::pci_address(int, std::uint32_t, std::uint32_t subdevice)
{
    return subdevice == 1 ? "ffff:01:00.0" : subdevice == 2 ? "ffff:02:00.0" : "";
}

SwitchThread::SwitchThread(EventLoop &loop) : loop_(loop), finished_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    key_ = loop_.add(finished_fd_.get(), EPOLLIN, [this](std::uint32_t) { finish(); });
}

SwitchThread::~SwitchThread()
{
    loop_.remove(key_, finished_fd_.get());
    times_off.clear();
}

void SwitchThread::give(std::vector<ChannelSet> sets, Action action, Done done)
{
    int result = 0;
    if (action != Action::none)
        for (const ChannelSet &set : sets)
            if (int ret = switch_one(set, action == Action::off))
                result = ret;
    Guard guard(lock_);
    finished_.push_back({{}, action, std::move(done), result});
    eventfd_write(finished_fd_.get(), 1);
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

FileCloser::FileCloser(EventLoop &loop, Close close) : loop_(loop), close_(std::move(close)) {}

FileCloser::~FileCloser() = default;

std::shared_ptr<const UniqueFd> FileCloser::keep(UniqueFd file)
{
    return std::make_shared<UniqueFd>(std::move(file));
}

bool FileCloser::is_busy() const
{
    return false;
}

} // namespace ptsched
