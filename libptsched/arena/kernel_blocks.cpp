// SPDX-License-Identifier: MIT
/*
 * Blocks for kernels: each kind is a run of its own, of which they take the next by a counter in the GPU's memory. What
 * they have taken is told by these counters when they have ended.
 */
#include "libptsched/arena/core.hpp"
#include <ptsched/device/allocation.hpp>

#include <algorithm>
#include <exception>

namespace ptsched::arena {

namespace {

std::size_t rounded(const KernelBlocks::Kind &kind)
{
    if (!kind.bytes || kind.bytes > size_class::largest || !kind.count)
        throw Error("blocks for kernels: " + std::to_string(kind.count) + " of " + std::to_string(kind.bytes) +
                    " bytes; at least one of 1 to " + std::to_string(size_class::largest) + " must be asked for");
    return size_class::bytes_of(size_class::index_of(kind.bytes));
}

} // namespace

class KernelBlocksCore {
public:
    KernelBlocksCore(std::shared_ptr<ArenaCore> arena, const std::vector<KernelBlocks::Kind> &kinds,
                     std::uint32_t most_returned, Site site);
    ~KernelBlocksCore();

    KernelHeap view() const;
    std::size_t collect();
    std::vector<std::uint32_t> left() const;

private:
    void upload();
    void give_back(std::uint32_t count);
    WindowCore &window() const { return *arena_->window; }
    device::Address counter() const { return memory_.address() + kinds_.size() * sizeof(KernelKind); }
    device::Address list() const { return counter() + alignof(std::max_align_t); }

    const std::shared_ptr<ArenaCore> arena_;
    const Site site_;
    const std::uint32_t most_returned_;
    std::vector<BlockRun *> runs_;      /* in the order of the kinds on the GPU */
    std::vector<KernelKind> kinds_;     /* as they were when collected last */
    std::vector<std::size_t> named_as_; /* which of these it is, by how they were named */
    device::Allocation memory_;
    std::unique_ptr<device::Queue> queue_;
};

KernelBlocksCore::KernelBlocksCore(std::shared_ptr<ArenaCore> arena, const std::vector<KernelBlocks::Kind> &kinds,
                                   std::uint32_t most_returned, Site site)
    : arena_(std::move(arena)), site_(site), most_returned_(most_returned)
{
    if (window().devices.empty())
        throw Error("blocks for kernels in a window without GPUs: there is none that runs any");
    if (kinds.empty())
        throw Error("blocks for kernels of no kind: at least one must be named");
    std::vector<std::size_t> order(kinds.size());
    for (std::size_t i = 0; i < order.size(); i++)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rounded(kinds[a]) < rounded(kinds[b]); });
    memory_ = device::Allocation::one_address(window().devices, kinds.size() * sizeof(KernelKind) +
                                                                    alignof(std::max_align_t) +
                                                                    std::size_t{most_returned} * sizeof(std::uint64_t));
    queue_ = window().devices[0]->make_queue();
    named_as_.resize(kinds.size());
    try {
        for (const std::size_t i : order) {
            const std::size_t bytes = rounded(kinds[i]);
            named_as_[i] = runs_.size();
            runs_.reserve(kinds.size());
            runs_.push_back(&arena_->heap.make_run_of_kernels(bytes, kinds[i].count));
            kinds_.push_back({reinterpret_cast<std::uintptr_t>(runs_.back()->pages.begin), static_cast<unsigned>(bytes),
                              kinds[i].count, 0, 0});
        }
        upload();
    } catch (...) {
        for (BlockRun *run : runs_)
            arena_->heap.end_kernels(*run);
        throw;
    }
}

KernelBlocksCore::~KernelBlocksCore()
{
    try {
        collect();
    } catch (const std::exception &) {
        /* What kernels have given back by mistake stays theirs. */
    }
    for (BlockRun *run : runs_)
        arena_->heap.end_kernels(*run);
}

void KernelBlocksCore::upload()
{
    const std::uint32_t none = 0;
    const InTurn turn(window());
    queue_->upload(memory_.address(), kinds_.data(), kinds_.size() * sizeof(KernelKind));
    queue_->upload(counter(), &none, sizeof(none));
    queue_->finish();
}

KernelHeap KernelBlocksCore::view() const
{
    return {static_cast<KernelKind *>(device::host_pointer(memory_.address())), static_cast<unsigned>(kinds_.size()),
            most_returned_, static_cast<unsigned *>(device::host_pointer(counter())),
            static_cast<unsigned long long *>(device::host_pointer(list()))};
}

std::size_t KernelBlocksCore::collect()
{
    std::uint32_t returned = 0;
    std::size_t allocated = 0;
    std::vector<KernelKind> now(kinds_.size());
    {
        const InTurn turn(window());
        queue_->download(now.data(), memory_.address(), now.size() * sizeof(KernelKind));
        queue_->download(&returned, counter(), sizeof(returned));
        queue_->finish();
    }
    for (std::size_t i = 0; i < now.size(); i++) {
        const std::uint32_t known = std::min(now[i].next, now[i].count);
        allocated += known - kinds_[i].next;
        kinds_[i].next = known;
        arena_->heap.set_known(*runs_[i], known, site_);
    }
    if (returned)
        give_back(std::min(returned, most_returned_));
    return allocated;
}

void KernelBlocksCore::give_back(std::uint32_t count)
{
    std::vector<std::uint64_t> blocks(count);
    std::exception_ptr failure;
    {
        const std::uint32_t none = 0;
        const InTurn turn(window());
        queue_->download(blocks.data(), list(), blocks.size() * sizeof(std::uint64_t));
        queue_->upload(counter(), &none, sizeof(none));
        queue_->finish();
    }
    for (const std::uint64_t block : blocks) {
        try {
            arena_->heap.deallocate(device::host_pointer(block));
        } catch (const Error &) {
            failure = failure ? failure : std::current_exception();
        }
    }
    if (failure)
        std::rethrow_exception(failure);
}

std::vector<std::uint32_t> KernelBlocksCore::left() const
{
    std::vector<std::uint32_t> left;
    for (const std::size_t i : named_as_)
        left.push_back(kinds_[i].count - kinds_[i].next);
    return left;
}

KernelBlocks::KernelBlocks(Arena &arena, std::vector<Kind> kinds, std::uint32_t most_returned, Site site)
    : core_(std::make_unique<KernelBlocksCore>(arena.core_, kinds, most_returned, site))
{
}

KernelBlocks::~KernelBlocks() = default;

KernelHeap KernelBlocks::view() const
{
    return core_->view();
}

std::size_t KernelBlocks::collect()
{
    return core_->collect();
}

std::vector<std::uint32_t> KernelBlocks::left() const
{
    return core_->left();
}

} // namespace ptsched::arena
