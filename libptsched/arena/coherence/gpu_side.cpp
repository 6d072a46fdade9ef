// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/gpu_side.hpp"

#include "libptsched/arena/coherence/kernels_image.hpp"
#include "libptsched/arena/coherence/words.hpp"
#include "libptsched/base/lock.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/device/queue_pool.hpp>

#include <algorithm>
#include <cstring>

namespace ptsched::arena {

namespace {

using device::Address;
using device::Allocation;

/* Memory that is used again and grows. */
class Buffer {
public:
    /* @pinned: the host's, that GPUs reach; else a GPU's. */
    explicit Buffer(device::Device *gpu) : gpu_(gpu) {}
    /* Nobody uses what it had. */
    void make_room(std::size_t bytes)
    {
        if (!memory_.empty() && memory_.bytes() >= bytes)
            return;
        memory_ = Allocation();
        memory_ = gpu_ ? Allocation::on_device(*gpu_, bytes) : Allocation::pinned(bytes);
    }
    Address address() const { return memory_.address(); }
    std::byte *host() const { return static_cast<std::byte *>(memory_.host_address()); }
    std::size_t bytes() const { return memory_.empty() ? 0 : memory_.bytes(); }

private:
    device::Device *gpu_;
    Allocation memory_;
};

/* What work needs, and the next one again. */
struct Kit {
    explicit Kit(device::Device &gpu) : asked(nullptr), staged(nullptr), answered(nullptr), beside(&gpu) {}

    Buffer asked;                      /* what kernels read of the host's memory */
    Buffer staged;                     /* see GpuWork::stage() */
    Buffer answered;                   /* and what comes back */
    Buffer beside;                     /* on the GPU */
    device::PooledQueue queue, second; /* that has ended when the first has */
};

class CudaSide;

class CudaWork : public GpuWork {
public:
    CudaWork(CudaSide &side, std::unique_ptr<Kit> kit) : side_(side), kit_(std::move(kit)) {}
    ~CudaWork() override;
    void fill(const Place &place, PageRun run) override;
    void bring(const Place &place, std::span<const ArenaIncoming> pages) override;
    void fetch(const Place &place, PageRun run, From from) override;
    void send(const Place &place, std::span<const ArenaOutgoing> pages) override;
    void adopt(const Place &place, PageRun run) override;
    void compare(const Place &place, std::span<const ArenaCompared> pages, std::span<unsigned> changed,
                 const Found &found) override;
    std::byte *stage(std::size_t bytes) override;
    void finish() override
    {
        wait();
        staged_ = 0;
    }

private:
    /* Until all that was given is done; what is staged may be for what comes. */
    void wait()
    {
        join();
        kit_->queue->finish();
        asked_ = 0;
        is_finished_ = true;
    }
    /* To give it work. */
    device::Queue &queue()
    {
        is_finished_ = false;
        return *kit_->queue;
    }
    device::Queue &second();
    void join();
    template <typename T> Address ask(std::span<const T> what);
    void run(const device::Code &code, std::size_t pages, const std::vector<void *> &arguments);
    void compare_all(const Place &place, std::span<const ArenaCompared> pages, std::span<unsigned> changed,
                     const Found &found);
    void compare_once(const Place &place, std::span<const ArenaCompared> pages, std::span<unsigned> changed,
                      std::size_t room, std::size_t &wanted, const Found &found);

    CudaSide &side_;
    std::unique_ptr<Kit> kit_;
    bool is_finished_ = true;
    bool is_second_used_ = false; /* since the first has waited for it */
    /* Bytes of what was asked of kernels that may not have read it yet, and likewise of what is staged. */
    std::size_t asked_ = 0, staged_ = 0;
};

class CudaSide : public GpuSide {
public:
    explicit CudaSide(Memories &of)
        : memories(of), gpu(of.gpu(0)), bring(kernel("ptsched_arena_bring")), send(kernel("ptsched_arena_send")),
          compare(kernel("ptsched_arena_compare"))
    {
    }
    Address make_twin(std::size_t bytes) override
    {
        try {
            return gpu.allocate(bytes);
        } catch (const device::OutOfMemory &error) {
            throw device::OutOfMemory("an arena that both sides write needs as much memory again on the GPU, of which "
                                      "there is no more: " +
                                      std::string(error.what()));
        }
    }
    void release_twin(Address twin, std::size_t bytes) noexcept override { gpu.release(twin, bytes); }
    std::unique_ptr<GpuWork> begin() override
    {
        std::unique_ptr<Kit> kit;
        {
            Guard lock(mutex_);
            if (!kits_.empty()) {
                kit = std::move(kits_.back());
                kits_.pop_back();
            }
        }
        if (!kit)
            kit = std::make_unique<Kit>(gpu);
        kit->queue = device::QueuePool::of(gpu).take();
        return std::make_unique<CudaWork>(*this, std::move(kit));
    }
    void end(std::unique_ptr<Kit> kit) noexcept
    {
        kit->queue.reset();
        kit->second.reset();
        Guard lock(mutex_);
        kits_.push_back(std::move(kit));
    }

    Memories &memories;
    device::Device &gpu;
    const std::unique_ptr<device::Code> bring, send, compare;

private:
    std::unique_ptr<device::Code> kernel(const char *name) const
    {
        return device::cuda_code_from_image(gpu, kernels_image(), name);
    }

    Mutex mutex_;
    std::vector<std::unique_ptr<Kit>> kits_ PTSCHED_GUARDED_BY(mutex_);
};

CudaWork::~CudaWork()
{
    if (!is_finished_) {
        device::settle(queue());
        if (kit_->second)
            device::settle(*kit_->second);
    }
    side_.end(std::move(kit_));
}

/* For what goes on beside the first queue; whatever needs it joins them. */
device::Queue &CudaWork::second()
{
    is_finished_ = false;
    is_second_used_ = true;
    if (!kit_->second)
        kit_->second = device::QueuePool::of(side_.gpu).take();
    return *kit_->second;
}

void CudaWork::join()
{
    if (is_second_used_)
        kit_->queue->after(kit_->second->mark());
    is_second_used_ = false;
}

/* Stays until all is finished. */
template <typename T> Address CudaWork::ask(std::span<const T> what)
{
    const std::size_t bytes = device::align_up(what.size_bytes());
    if (asked_ + bytes > kit_->asked.bytes()) {
        wait();
        kit_->asked.make_room(bytes);
    }
    std::memcpy(kit_->asked.host() + asked_, what.data(), what.size_bytes());
    asked_ += bytes;
    return kit_->asked.address() + asked_ - bytes;
}

void CudaWork::run(const device::Code &code, std::size_t pages, const std::vector<void *> &arguments)
{
    device::Geometry geometry;
    geometry.grid.x = static_cast<unsigned>(pages * arena_page_blocks);
    geometry.block.x = arena_threads;
    queue().run(code, geometry, arguments);
}

/* What has come goes on to the twin while the next comes. */
void CudaWork::fill(const Place &place, PageRun run)
{
    constexpr std::size_t at_once = 64 << 20; /* the bus stands still between two */
    device::Queue &first = queue(), &second = this->second();
    const std::size_t end = run.end() * page_bytes;
    for (std::size_t from = run.first * page_bytes; from < end; from += at_once) {
        const std::size_t bytes = std::min(at_once, end - from);
        const Address current = side_.memories.on_gpu(place.offset + from);
        first.upload(current, side_.memories.alias() + place.offset + from, bytes);
        second.after(first.mark());
        second.copy(place.twin + from, side_.gpu, current, bytes);
    }
}

void CudaWork::bring(const Place &place, std::span<const ArenaIncoming> pages)
{
    join();
    Address current = side_.memories.on_gpu(place.offset), twin = place.twin, asked = ask(pages);
    run(*side_.bring, pages.size(), {&current, &twin, &asked});
}

void CudaWork::fetch(const Place &place, PageRun run, From from)
{
    const std::size_t at = run.first * page_bytes;
    if (from == From::twin)
        join();
    queue().download(side_.memories.alias() + place.offset + at,
                     from == From::twin ? place.twin + at : side_.memories.on_gpu(place.offset + at),
                     run.count * page_bytes);
}

void CudaWork::send(const Place &place, std::span<const ArenaOutgoing> pages)
{
    join();
    Address current = side_.memories.on_gpu(place.offset), twin = place.twin, asked = ask(pages);
    run(*side_.send, pages.size(), {&current, &twin, &asked});
}

void CudaWork::adopt(const Place &place, PageRun run)
{
    const std::size_t from = run.first * page_bytes;
    second().copy(place.twin + from, side_.gpu, side_.memories.on_gpu(place.offset + from), run.count * page_bytes);
}

std::byte *CudaWork::stage(std::size_t bytes)
{
    if (staged_ + bytes > kit_->staged.bytes()) {
        finish();
        kit_->staged.make_room(bytes);
    }
    staged_ += bytes;
    return kit_->staged.host() + staged_ - bytes;
}

/* As many at once as can be packed without its place being too large for a word. */
void CudaWork::compare(const Place &place, std::span<const ArenaCompared> pages, std::span<unsigned> changed,
                       const Found &found)
{
    constexpr std::size_t most_pages = 65536;
    join();
    std::fill(changed.begin(), changed.end(), 0);
    for (std::size_t first = 0; first < pages.size(); first += most_pages) {
        const std::size_t count = std::min(most_pages, pages.size() - first);
        compare_all(place, pages.subspan(first, count), changed.subspan(first, count), found);
    }
}

void CudaWork::compare_all(const Place &place, std::span<const ArenaCompared> pages, std::span<unsigned> changed,
                           const Found &found)
{
    constexpr std::size_t first_room = 64 << 10; /* words */
    std::size_t most_room = 16 << 20, room = 0, wanted = 0;
    if (std::any_of(pages.begin(), pages.end(), [](const ArenaCompared &page) { return page.mode != arena_count; }))
        room = first_room;
    do {
        room = std::min(std::max(room, wanted), most_room);
        try {
            compare_once(place, pages, changed, room, wanted, found);
        } catch (const device::OutOfMemory &) {
            /* Nothing has been done: it goes by more and smaller pieces. */
            if (room <= first_room)
                throw;
            most_room = room = first_room;
            compare_once(place, pages, changed, room, wanted, found);
        }
    } while (wanted > room);
}

/*
 * Beside: the pages, what the kernel begins with and answers (where it packs next, where that ends for which there was
 * room, and the words changed), and what it has packed.
 */
void CudaWork::compare_once(const Place &place, std::span<const ArenaCompared> pages, std::span<unsigned> changed,
                            std::size_t room, std::size_t &wanted, const Found &found)
{
    constexpr std::size_t header_words = 2, first_answer = 4096;
    const std::size_t begin = pages.size_bytes(), answer_words = header_words + pages.size();
    kit_->beside.make_room(begin + (answer_words + room) * word_bytes);
    kit_->answered.make_room((answer_words + room) * word_bytes);
    std::vector<std::byte> asked(begin + answer_words * word_bytes);
    std::memcpy(asked.data(), pages.data(), begin);
    const unsigned end = static_cast<unsigned>(room);
    std::memcpy(asked.data() + begin + word_bytes, &end, word_bytes);
    const auto from = device::host_pointer(ask(std::span<const std::byte>(asked)));

    Address current = side_.memories.on_gpu(place.offset), twin = place.twin, entries = kit_->beside.address();
    Address header = entries + begin, counts = header + header_words * word_bytes;
    Address packed = header + answer_words * word_bytes;
    unsigned words = end;
    queue().upload(entries, from, asked.size());
    run(*side_.compare, pages.size(), {&current, &twin, &entries, &counts, &header, &packed, &words});
    const auto answer = reinterpret_cast<unsigned *>(kit_->answered.host());
    const std::size_t at_once = std::min(room, first_answer);
    queue().download(answer, header, (answer_words + at_once) * word_bytes);
    finish();
    wanted = answer[0];
    const std::size_t there = std::min<std::size_t>(answer[0], answer[1]);
    if (there > at_once) {
        queue().download(answer + answer_words + at_once, packed + at_once * word_bytes,
                         (there - at_once) * word_bytes);
        finish();
    }
    for (std::size_t i = 0; i < changed.size(); i++)
        changed[i] += answer[header_words + i];
    if (there)
        found(std::span<const unsigned>(answer + answer_words, there));
}

} // namespace

std::unique_ptr<GpuSide> make_gpu_side(Memories &memories)
{
    return std::make_unique<CudaSide>(memories);
}

} // namespace ptsched::arena
