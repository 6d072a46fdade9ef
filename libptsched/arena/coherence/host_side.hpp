/* SPDX-License-Identifier: MIT */
/* The host's view of a window: what its threads may do with which pages, and their faults. */
#ifndef PTSCHED_ARENA_COHERENCE_HOST_SIDE_HPP
#define PTSCHED_ARENA_COHERENCE_HOST_SIDE_HPP

#include "libptsched/arena/coherence/region.hpp"
#include "libptsched/base/bad_access.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <unistd.h>

namespace ptsched::arena {

/* Memory that has none behind it before it is written. */
class Reserved {
public:
    /* Throws OutOfMemory. */
    explicit Reserved(std::size_t bytes);
    ~Reserved();
    Reserved(const Reserved &) = delete;
    Reserved &operator=(const Reserved &) = delete;
    std::byte *data() const { return data_; }
    /* It is zero again. Whole pages of the processor. */
    void forget(std::size_t offset, std::size_t bytes) noexcept;

private:
    std::byte *data_;
    const std::size_t bytes_;
};

class HostSide {
public:
    struct Fault {
        Extent *extent;
        std::size_t page;
        bool is_write;
    };
    /* Of somebody who waits in a handler, until it is answered. */
    class Asked {
    public:
        explicit Asked(const Fault &of) : fault(of) {}
        const Fault fault;

    private:
        friend class HostSide;
        enum Result { waits, done, failed };
        std::atomic<int> result_{waits};
        Asked *next_ = nullptr;
    };
    /* What needs GPUs, by a thread, which calls one of these at a time. */
    class Helper {
    public:
        /* Answers, now or later. */
        virtual void serve(Asked &asked) = 0;
        /* Of what is to be done besides, something; false: there is nothing now. */
        virtual bool go_on() = 0;

    protected:
        ~Helper() = default;
    };

    /* @with_twins: see keeps_twin(). @helper outlives it. */
    HostSide(Memories &memories, bool with_twins, Helper &helper);
    ~HostSide();
    HostSide(const HostSide &) = delete;
    HostSide &operator=(const HostSide &) = delete;

    /* From now on faults there are served. The extent stays until it is forgotten. */
    void add(Extent &extent);
    /* Waits for faults that are being served. */
    void forget(Extent &extent) noexcept;

    /* By the helper, once: whether what it asked for is done. */
    void answer(Asked &asked, bool is_done);
    /* There may be something to go on with. */
    void wake();

    std::span<std::byte> home(const Extent &extent, PageRun run) const;
    void protect(const Extent &extent, const PageSet &pages, Rights rights) noexcept;
    /* Opens what an access to a page on the host needs. */
    void open(Extent &extent, std::size_t page, bool is_write) PTSCHED_REQUIRES(extent.region.mutex)
    {
        open(extent, extent.directory.grant(page, is_write), is_write);
    }
    /* The same of a run, which the directory has granted. */
    void open(Extent &extent, PageRun run, bool is_write);
    /* Of pages that the host may have written since it released, as they were before; if there are twins. */
    bool keeps_twins() const { return twins_.has_value(); }
    std::byte *twin(const Extent &extent, std::size_t page) const;
    void forget_twins(const Extent &extent, const PageSet &pages) noexcept;

    std::atomic<std::uint64_t> read_faults{0}, write_faults{0}, twins{0}, nanoseconds{0};

private:
    /* Who waits is woken with few others. */
    std::atomic<unsigned> &answers_to(const Asked &asked);

    static bool on_access(void *self, const BadAccess &access);
    bool on_fault(std::size_t offset, bool is_write);
    bool serve_here(const Fault &fault);
    bool ask(const Fault &fault);
    void work();

    std::atomic<Extent *> *of_page(std::size_t offset) const;

    Memories &memories_;
    Helper &helper_;
    const Reserved extents_; /* of each page, a pointer */
    std::optional<Reserved> twins_;
    std::atomic<unsigned> in_flight_{0};
    std::atomic<Asked *> asked_{nullptr};
    std::atomic<unsigned> asks_{0};
    std::array<std::atomic<unsigned>, 64> answers_{};
    std::atomic<bool> ends_{false};
    const pid_t process_ = getpid(); /* that has the thread */
    std::thread thread_;
    std::optional<BadAccessHandler> handler_;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_HOST_SIDE_HPP */
