// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/host_side.hpp"

#include "libptsched/base/no_signals.hpp"

#include <chrono>
#include <cstring>
#include <sys/mman.h>

namespace ptsched::arena {

using Clock = std::chrono::steady_clock;

Reserved::Reserved(std::size_t bytes) : bytes_(bytes)
{
    void *const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        throw device::OutOfMemory("there are no " + std::to_string(bytes) + " bytes of addresses for a window's pages");
    data_ = static_cast<std::byte *>(made);
}

Reserved::~Reserved()
{
    munmap(data_, bytes_);
}

void Reserved::forget(std::size_t offset, std::size_t bytes) noexcept
{
    madvise(data_ + offset, bytes, MADV_DONTNEED);
}

HostSide::HostSide(Memories &memories, bool with_twins, Helper &helper)
    : memories_(memories), helper_(helper), extents_(memories.bytes() / page_bytes * sizeof(std::atomic<Extent *>))
{
    if (with_twins)
        twins_.emplace(memories.bytes());
    handler_.emplace(on_access, this);
    NoSignals none;
    thread_ = std::thread([this] { work(); });
}

HostSide::~HostSide()
{
    handler_.reset();
    ends_ = true;
    wake();
    thread_.join();
}

std::atomic<Extent *> *HostSide::of_page(std::size_t offset) const
{
    return reinterpret_cast<std::atomic<Extent *> *>(extents_.data()) + offset / page_bytes;
}

void HostSide::add(Extent &extent)
{
    for (std::size_t at = extent.offset; at < extent.offset + extent.bytes; at += page_bytes)
        of_page(at)->store(&extent, std::memory_order_release);
}

void HostSide::forget(Extent &extent) noexcept
{
    for (std::size_t at = extent.offset; at < extent.offset + extent.bytes; at += page_bytes)
        of_page(at)->store(nullptr);
    while (in_flight_.load())
        std::this_thread::yield();
}

std::span<std::byte> HostSide::home(const Extent &extent, PageRun run) const
{
    return {memories_.alias() + extent.offset + run.first * page_bytes, run.count * page_bytes};
}

/* One call for runs between which others have these rights already: each one interrupts all processors. */
void HostSide::protect(const Extent &extent, const PageSet &pages, Rights rights) noexcept
{
    const PageSet alike = pages | extent.directory.with(rights);
    PageRun together{0, 0};
    const auto apply = [&] {
        if (together.count)
            memories_.protect(extent.offset + together.first * page_bytes, together.count * page_bytes, rights);
    };
    pages.for_each_run([&](PageRun run) {
        if (together.count && alike.next_missing(together.end()) >= run.first) {
            together.count = run.end() - together.first;
            return;
        }
        apply();
        together = run;
    });
    apply();
}

std::byte *HostSide::twin(const Extent &extent, std::size_t page) const
{
    return twins_->data() + extent.offset + page * page_bytes;
}

void HostSide::forget_twins(const Extent &extent, const PageSet &pages) noexcept
{
    pages.for_each_run(
        [&](PageRun run) { twins_->forget(extent.offset + run.first * page_bytes, run.count * page_bytes); });
}

void HostSide::open(Extent &extent, PageRun run, bool is_write)
{
    if (!run.count)
        return;
    if (is_write && twins_ && !extent.region.owner.get()) {
        std::memcpy(twin(extent, run.first), home(extent, run).data(), run.count * page_bytes);
        twins += run.count;
    }
    memories_.protect(extent.offset + run.first * page_bytes, run.count * page_bytes,
                      is_write ? Rights::write : Rights::read);
}

bool HostSide::on_access(void *self, const BadAccess &access)
{
    HostSide &side = *static_cast<HostSide *>(self);
    const std::size_t offset = access.address - reinterpret_cast<std::uintptr_t>(side.memories_.view());
    return offset < side.memories_.bytes() && side.on_fault(offset, access.is_write);
}

/* In a signal's handler: no memory is allocated, and nothing is called that may not be there. */
bool HostSide::on_fault(std::size_t offset, bool is_write)
{
    const auto begin = Clock::now();
    in_flight_.fetch_add(1);
    bool is_done = false;
    if (Extent *const extent = of_page(offset)->load()) {
        (is_write ? write_faults : read_faults)++;
        const Fault fault{extent, extent->page_at(offset), is_write};
        is_done = serve_here(fault) || ask(fault);
    }
    in_flight_.fetch_sub(1);
    nanoseconds += static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
    return is_done;
}

/* False if that needs GPUs. */
bool HostSide::serve_here(const Fault &fault)
{
    Extent &extent = *fault.extent;
    Guard lock(extent.region.mutex);
    if (extent.region.owner.get() == Party::gpus || !extent.directory.is_on_host(fault.page))
        return false;
    open(extent, fault.page, fault.is_write);
    return true;
}

/*
 * The driver may not be called in a signal's handler: a thread does it, while the handler waits. A forked child has
 * neither that nor the driver.
 */
bool HostSide::ask(const Fault &fault)
{
    if (getpid() != process_)
        return false;
    Asked asked(fault);
    asked.next_ = asked_.load();
    while (!asked_.compare_exchange_weak(asked.next_, &asked))
        ;
    wake();
    for (;;) {
        const unsigned answers = answers_to(asked);
        if (const int result = asked.result_)
            return result == Asked::done;
        answers_to(asked).wait(answers);
    }
}

/* By where it is: on the stack of a thread of its own. */
std::atomic<unsigned> &HostSide::answers_to(const Asked &asked)
{
    const std::uint64_t place = reinterpret_cast<std::uintptr_t>(&asked) * 0x9e3779b97f4a7c15U;
    return answers_[place >> 58];
}

/* Who asked goes on at once, and takes it along. */
void HostSide::answer(Asked &asked, bool is_done)
{
    std::atomic<unsigned> &answers = answers_to(asked);
    asked.result_ = is_done ? Asked::done : Asked::failed;
    answers++;
    answers.notify_all();
}

void HostSide::wake()
{
    asks_++;
    asks_.notify_one();
}

void HostSide::work()
{
    for (;;) {
        const unsigned asks = asks_;
        Asked *asked = asked_.exchange(nullptr);
        if (!asked && !helper_.go_on()) {
            if (ends_)
                return;
            asks_.wait(asks);
        }
        while (asked)
            helper_.serve(*std::exchange(asked, asked->next_));
    }
}

} // namespace ptsched::arena
