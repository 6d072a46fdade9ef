// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/gpu/gpu_engine.hpp"

#include "libptsched/base/lock.hpp"
#include "libptsched/base/pidfd.hpp"
#include "tools/ptcryptfs/gpu/kernel_image.hpp"
#include "tools/ptcryptfs/gpu/schedules.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/ptask/graph.hpp>

#include <openssl/crypto.h>
#include <vector>

namespace ptcryptfs {

namespace {

using ptsched::device::Allocation;
using ptsched::device::Datablock;
using ptsched::device::DatablockPtr;
namespace ptask = ptsched::ptask;

/* 16 bytes, of which a thread has one. */
struct alignas(16) Block {
    std::byte bytes[16];
};
constexpr std::size_t most_sectors = std::size_t{1} << 20;

/* Whose request it is: a process that cannot be mistaken for another one. */
class Requester {
public:
    /* Whether it has become another one; -1 is this process. */
    bool become(pid_t process)
    {
        if (process == process_ && (!pidfd_ || !ptsched::has_exited(pidfd_.get())))
            return false;
        pidfd_.reset(process ? static_cast<int>(syscall(SYS_pidfd_open, process, 0)) : -1);
        process_ = pidfd_ ? process : 0;
        return true;
    }
    int pidfd() const { return pidfd_.get(); }

private:
    pid_t process_ = 0;
    ptsched::UniqueFd pidfd_;
};

/* One request at a time. */
class Lane {
public:
    Lane()
        : graph_({.attach = ptask::Attach::if_possible}),
          task_(graph_.cuda_image(
              "xts", ptask::image_of(kernel_image(), "ptcryptfs_xts"),
              {ptask::inout("data", ptask::Template::variable<Block>(most_sectors * sector_bytes / 16)),
               ptask::by_value(ptask::in("request", ptask::Template::of<aes::Request>(1)))})),
          data_(graph_.input(task_["data"])), request_(graph_.input(task_["request"])),
          result_(graph_.output(task_["data"]))
    {
        graph_.run();
    }

    void run(const aes::Request &request, Bytes sectors)
    {
        if (requester_.become(served_process))
            graph_.work_for(requester_.pidfd());
        DatablockPtr result;
        try {
            /* The caller's memory, which is there as long as this call, and as its lane if that fails. */
            data_.push(Datablock::over(sectors.data(), sectors.size(), {std::shared_ptr<void>(), sectors.data()}));
            request_.push_value(request);
            result = result_.pull();
            result->wait();
        } catch (const std::exception &error) {
            throw NotDone(error.what());
        }
        result->read_into(sectors.data());
    }

private:
    ptask::Graph graph_;
    ptask::Task &task_;
    ptask::Input &data_, &request_;
    ptask::Output &result_;
    Requester requester_;
};

class GpuEngine final : public Engine {
public:
    GpuEngine() { give_back(std::make_unique<Lane>()); }

    std::string name() const override { return "gpu"; }
    Buffer buffer(std::size_t bytes) override
    {
        const auto memory = std::make_shared<Allocation>(Allocation::pinned(bytes));
        return {memory, {static_cast<std::byte *>(memory->host_address()), bytes}};
    }
    void encrypt(const Secret &key, std::uint64_t first, Bytes sectors) override { run(key, first, sectors, false); }
    void decrypt(const Secret &key, std::uint64_t first, Bytes sectors) override { run(key, first, sectors, true); }

private:
    void run(const Secret &key, std::uint64_t first, Bytes sectors, bool decrypts)
    {
        aes::Request request{aes::make_schedules(key.bytes(), decrypts), first, decrypts};
        std::unique_ptr<Lane> lane = take();
        /* One that has failed is not used again. */
        lane->run(request, sectors);
        give_back(std::move(lane));
        OPENSSL_cleanse(&request, sizeof request);
    }
    std::unique_ptr<Lane> take()
    {
        {
            const ptsched::Guard guard(mutex_);
            if (!free_.empty()) {
                std::unique_ptr<Lane> lane = std::move(free_.back());
                free_.pop_back();
                return lane;
            }
        }
        try {
            return std::make_unique<Lane>();
        } catch (const std::exception &error) {
            throw NotDone(error.what());
        }
    }
    void give_back(std::unique_ptr<Lane> lane)
    {
        const ptsched::Guard guard(mutex_);
        free_.push_back(std::move(lane));
    }

    ptsched::Mutex mutex_;
    std::vector<std::unique_ptr<Lane>> free_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace

std::unique_ptr<Engine> make_gpu_engine()
{
    return std::make_unique<GpuEngine>();
}

} // namespace ptcryptfs
