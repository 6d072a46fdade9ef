// SPDX-License-Identifier: MIT
#include "libptsched/ptask/ipc/device_sharing.hpp"

#include "libptsched/base/lock.hpp"
#include "libptsched/base/worker.hpp"

#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace ptsched::ptask {

namespace {

/* Each takes a descriptor. What is more goes as memory. */
constexpr std::size_t most_lent = 256;

/* Keeps what is lent. */
class Lender {
public:
    static Lender &get()
    {
        /* For good: others may have blocks when static objects go. */
        static Lender &lender = *new Lender;
        return lender;
    }
    /* The end for who borrows it, or none. */
    UniqueFd keep(std::shared_ptr<const void> block);
    std::size_t count()
    {
        Guard lock(mutex_);
        return loans_.size() + ending_;
    }

private:
    struct Loan {
        UniqueFd end;
        std::shared_ptr<const void> block;
    };

    void watch(const Stop &stop);
    /* Gives up those whose other end is gone; @found has them in order, after the first. */
    void take_back(const std::vector<pollfd> &found);

    UniqueFd wake_; /* made before the worker, which is there for good */
    Mutex mutex_;
    std::vector<Loan> loans_ PTSCHED_GUARDED_BY(mutex_);
    std::size_t ending_ PTSCHED_GUARDED_BY(mutex_) = 0; /* taken from these, and still there */
    std::optional<Worker> worker_ PTSCHED_GUARDED_BY(mutex_);
};

UniqueFd Lender::keep(std::shared_ptr<const void> block)
{
    int ends[2];
    Guard lock(mutex_);
    /* Each time, while there is none: there may be a descriptor by now. */
    if (!wake_)
        wake_ = above_streams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_ || loans_.size() >= most_lent || pipe2(ends, O_CLOEXEC) < 0)
        return {};
    UniqueFd here = above_streams(ends[0]), there = above_streams(ends[1]);
    if (!here || !there)
        return {};
    try {
        if (!worker_)
            worker_.emplace([this](const Stop &stop) { watch(stop); });
        loans_.push_back({std::move(here), std::move(block)});
    } catch (const std::exception &) {
        return {};
    }
    eventfd_write(wake_.get(), 1);
    return there;
}

void Lender::take_back(const std::vector<pollfd> &found)
{
    std::vector<Loan> over, kept;
    Lock lock(mutex_);
    for (std::size_t i = 0; i < loans_.size(); i++)
        (i + 1 < found.size() && found[i + 1].revents ? over : kept).push_back(std::move(loans_[i]));
    loans_ = std::move(kept);
    ending_ = over.size();
    {
        Unlocked unlocked(lock, mutex_);
        over.clear();
    }
    ending_ = 0;
}

void Lender::watch(const Stop &stop)
{
    while (!stop.requested()) {
        std::vector<pollfd> waited = {{wake_.get(), POLLIN, 0}};
        {
            Guard lock(mutex_);
            for (const Loan &loan : loans_)
                waited.push_back({loan.end.get(), 0, 0});
        }
        if (poll(waited.data(), waited.size(), -1) < 0)
            continue;
        eventfd_t woken;
        eventfd_read(wake_.get(), &woken);
        take_back(waited);
    }
}

/* In this order: who has lent it may write over it when the end is gone. */
struct Borrowed {
    UniqueFd end;
    device::Mapping mapping;
};

device::Device &gpu_at(const Packet::Head &head)
{
    const std::string address(head.gpu, strnlen(head.gpu, sizeof(head.gpu)));
    for (device::Device *gpu : device::gpus())
        if (!address.empty() && gpu->bus_address() == address)
            return *gpu;
    throw NotHere("a datablock is on the GPU \"" + address + "\", which is not here");
}

} // namespace

bool lend(const DatablockPtr &block, Packet &packet)
{
    const std::optional<Datablock::Shared> shared = block->share();
    const std::string gpu = shared ? shared->device->bus_address() : "";
    if (gpu.empty() || gpu.size() >= sizeof(packet.head.gpu))
        return false;
    UniqueFd end = Lender::get().keep(shared->pin);
    if (!end)
        return false;
    packet.memory = std::move(end);
    packet.head.flags |= Packet::is_lent;
    packet.head.bytes = block->bytes();
    packet.head.handle = shared->handle;
    gpu.copy(packet.head.gpu, gpu.size());
    return true;
}

DatablockPtr borrow(Packet &packet)
{
    device::Device &gpu = gpu_at(packet.head);
    try {
        auto borrowed = std::make_shared<Borrowed>();
        borrowed->mapping = gpu.map_shared(packet.head.handle, packet.head.bytes);
        borrowed->end = std::move(packet.memory);
        return Datablock::over(gpu, borrowed->mapping.address, packet.head.bytes, borrowed);
    } catch (const Error &error) {
        throw NotHere(error.what());
    }
}

std::size_t count_lent()
{
    return Lender::get().count();
}

} // namespace ptsched::ptask
