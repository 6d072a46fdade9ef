// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/gpu/gpu_engine.hpp"

#include "libptsched/base/lock.hpp"
#include "libptsched/device/waits.hpp"
#include "tools/ptcryptfs/gpu/lane.hpp"
#include "tools/ptcryptfs/gpu/schedules.hpp"
#include <ptsched/device/allocation.hpp>

#include <algorithm>
#include <cstring>
#include <openssl/crypto.h>
#include <vector>

namespace ptcryptfs {

namespace {

using ptsched::device::Allocation;

/* Of so many no more are made for requesters that come, as long as any is free. */
constexpr std::size_t many_lanes = 32;

/* It has a key. */
struct Wiped {
    aes::Request request;
    ~Wiped() { OPENSSL_cleanse(&request, sizeof request); }
};

class GpuEngine final : public Engine {
public:
    GpuEngine()
    {
        /* Requests wait for others' work, too, and the CPUs are not to know of it. */
        ptsched::device::sleep_in_waits();
        give_back(std::make_unique<Lane>());
    }

    std::string name() const override { return "gpu"; }
    Buffer buffer(std::size_t bytes) override
    {
        const auto memory = std::make_shared<Allocation>(Allocation::pinned(bytes));
        return {memory, {static_cast<std::byte *>(memory->host_address()), bytes}};
    }
    void encrypt(const Secret &key, std::uint64_t first, ConstBytes from, Bytes to) override
    {
        if (from.data() != to.data())
            std::memcpy(to.data(), from.data(), from.size());
        run(key, first, to, false);
    }
    void decrypt(const Secret &key, std::uint64_t first, Bytes sectors) override { run(key, first, sectors, true); }

private:
    void run(const Secret &key, std::uint64_t first, Bytes sectors, bool decrypts)
    {
        const Wiped wiped{{aes::make_schedules(key.bytes(), decrypts), first, decrypts}};
        const RequesterPtr whose = requester_of(served_process);
        std::unique_ptr<Lane> lane = take(whose);
        if (!lane)
            lane = make();
        try {
            lane->run(wiped.request, sectors, whose);
        } catch (...) {
            /* It is not used again. */
            const ptsched::Guard guard(mutex_);
            lanes_--;
            throw;
        }
        give_back(std::move(lane));
    }
    /* The one that has worked for it last, or another that may; null: one is to be made. */
    std::unique_ptr<Lane> take(const RequesterPtr &whose)
    {
        const ptsched::Guard guard(mutex_);
        const auto same =
            std::find_if(free_.rbegin(), free_.rend(), [&](const auto &lane) { return lane->works_for(whose); });
        auto found = same != free_.rend() ? std::prev(same.base()) : free_.begin();
        if (same == free_.rend() && (free_.empty() || (lanes_ < many_lanes && !free_.front()->has_rested())))
            return nullptr;
        std::unique_ptr<Lane> lane = std::move(*found);
        free_.erase(found);
        return lane;
    }
    std::unique_ptr<Lane> make()
    {
        try {
            auto lane = std::make_unique<Lane>();
            const ptsched::Guard guard(mutex_);
            lanes_++;
            return lane;
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
    /* Who has rested longest comes first. */
    std::vector<std::unique_ptr<Lane>> free_ PTSCHED_GUARDED_BY(mutex_);
    std::size_t lanes_ PTSCHED_GUARDED_BY(mutex_) = 1;
};

} // namespace

std::unique_ptr<Engine> make_gpu_engine()
{
    return std::make_unique<GpuEngine>();
}

} // namespace ptcryptfs
