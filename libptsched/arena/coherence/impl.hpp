/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_COHERENCE_IMPL_HPP
#define PTSCHED_ARENA_COHERENCE_IMPL_HPP

#include "libptsched/arena/coherence/arrivals.hpp"

#include <chrono>

namespace ptsched::arena {

class Coherence::Impl final : private HostSide::Helper {
public:
    Impl(Memories &memories, Options options, std::unique_ptr<GpuSide> gpus);
    ~Impl();
    Impl(const Impl &) = delete;
    Impl &operator=(const Impl &) = delete;

    Region &add(std::optional<Party> owner);
    void grow(Region &region, Stretch pages);
    void remove(Region &region) noexcept;
    void acquire(Region &region, Party party);
    void release(Region &region, Party party, const Declared &writes);
    void access(Region &region, Party party);
    void take_ownership(Region &region, Party party, const Declared &writes);
    void give_up(Region &region, const Declared &writes);
    void open(Region &region, Stretch bytes, bool to_write);
    CoherenceState state() const;

private:
    /* Whether GPUs have work with the pages meanwhile, whose writes are to stay. */
    enum class Beside { nothing, work };
    /* Adds what passes until it goes. */
    class Timer {
    public:
        explicit Timer(std::atomic<std::uint64_t> &sum) : sum_(sum) {}
        ~Timer()
        {
            using namespace std::chrono;
            sum_ += static_cast<std::uint64_t>(nanoseconds(steady_clock::now() - begin_).count());
        }
        Timer(const Timer &) = delete;
        Timer &operator=(const Timer &) = delete;

    private:
        std::atomic<std::uint64_t> &sum_;
        const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    };
    /* What may be asked for a region. */
    enum class Call { acquire, release, access, take_ownership, give_up, open };
    bool may_need_gpus(Region &region, Call call, Party party) const PTSCHED_REQUIRES(region.mutex);
    /* Null if no GPU is likely to get work. Without the lock, since it may take long: others fault there. */
    Turn turn_for(Region &region, Call call, Party party = Party::host) PTSCHED_EXCLUDES(region.mutex);
    static PageSet pages_of(const Extent &extent, std::span<const Stretch> stretches);
    void check(Stretch pages) const;
    void acquire(Region &region, Work &work, Party party) PTSCHED_REQUIRES(region.mutex);
    void come_to_host(Region &region, Work &work) PTSCHED_REQUIRES(region.mutex);
    void serve(HostSide::Asked &asked) override;
    bool go_on() override;
    bool bring(const HostSide::Fault &fault);
    void bring_all(Region &region, Work &work, Beside beside) PTSCHED_REQUIRES(region.mutex);
    void bring(Region &region, Extent &extent, GpuWork &work, Beside beside) PTSCHED_REQUIRES(region.mutex);
    void give_to_gpus(Region &region, Work &work) PTSCHED_REQUIRES(region.mutex);
    /* It has come when the work is finished. */
    using From = GpuWork::From;
    void begin_fetch(Extent &extent, Work &work, const PageSet &pages, From from);
    void fetch_few(Region &region, Work &work) PTSCHED_REQUIRES(region.mutex);
    void begin_fetch_all(Region &region, Work &work, From from) PTSCHED_REQUIRES(region.mutex);
    void get_from_gpus(Region &region, std::unique_ptr<Work> work, const Turn &turn) PTSCHED_REQUIRES(region.mutex);
    void settle_host(Region &region) PTSCHED_REQUIRES(region.mutex);
    PageSet changed_by_host(Region &region, Extent &extent, const PageSet &written) PTSCHED_REQUIRES(region.mutex);
    void settle_gpus(Region &region, Work &work, const Declared &writes) PTSCHED_REQUIRES(region.mutex);
    void settle_gpus(Region &region, Extent &extent, Work &work, const Declared &writes) PTSCHED_REQUIRES(region.mutex);
    void adopt(Extent &extent, GpuWork &work, const PageSet &pages);
    void apply(Region &region, Extent &extent, std::span<const unsigned> packed) PTSCHED_REQUIRES(region.mutex);
    void settle_owner(Region &region, Work &work, const Declared &writes) PTSCHED_REQUIRES(region.mutex);
    void close(Region &region) PTSCHED_REQUIRES(region.mutex);
    void tell_races(Region &region) PTSCHED_REQUIRES(region.mutex);

    Memories &memories_;
    const Options options_;
    const std::unique_ptr<GpuSide> gpus_;
    Mutex mutex_;
    std::vector<std::unique_ptr<Region>> regions_ PTSCHED_GUARDED_BY(mutex_);
    std::atomic<std::uint64_t> compared_{0}, different_{0}, to_gpus_{0}, to_host_{0}, made_shared_{0};
    std::atomic<std::uint64_t> differences_ns_{0}, copies_ns_{0};
    Arrivals arrivals_;
    HostSide host_; /* ends first */
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_IMPL_HPP */
