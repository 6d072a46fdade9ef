// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/record.hpp"

namespace ptsched::arena::detail {

Records::Records(unsigned bytes_beside) : bytes_beside_(bytes_beside)
{
    grow();
}

Record &Records::take()
{
    for (;;) {
        if (Record *record = pop())
            return *record;
        grow();
    }
}

Record *Records::pop()
{
    std::uint64_t first = free_.load(std::memory_order_acquire);
    for (;;) {
        const auto index = static_cast<std::uint32_t>(first);
        if (!index)
            return nullptr;
        Record &record = at(index - 1);
        const std::uint64_t next = ((first >> 32) + 1) << 32 | record.next_free.load(std::memory_order_relaxed);
        if (free_.compare_exchange_weak(first, next, std::memory_order_acquire))
            return &record;
    }
}

void Records::give(Record &record)
{
    std::uint64_t first = free_.load(std::memory_order_relaxed), next;
    do {
        record.next_free.store(static_cast<std::uint32_t>(first), std::memory_order_relaxed);
        next = ((first >> 32) + 1) << 32 | (record.index + 1);
    } while (!free_.compare_exchange_weak(first, next, std::memory_order_release, std::memory_order_relaxed));
}

void Records::grow()
{
    Guard lock(mutex_);
    if (static_cast<std::uint32_t>(free_.load(std::memory_order_acquire)))
        return;
    const std::size_t chunk = beside_.size();
    if (chunk == most_chunks)
        throw Error("calls: " + std::to_string(most_chunks * in_chunk) +
                    " calls have begun whose results nobody has got: get() them, or let go of them");
    device::Allocation beside = device::Allocation::pinned(std::size_t{in_chunk} * bytes_beside_);
    auto records = std::make_unique<Record[]>(in_chunk);
    for (unsigned i = 0; i < in_chunk; i++) {
        records[i].index = static_cast<unsigned>(chunk) * in_chunk + i;
        records[i].beside = static_cast<std::byte *>(beside.host_address()) + std::size_t{i} * bytes_beside_;
    }
    beside_.push_back(std::move(beside));
    chunks_[chunk] = std::move(records);
    for (unsigned i = in_chunk; i-- > 0;)
        give(chunks_[chunk][i]);
}

} // namespace ptsched::arena::detail
