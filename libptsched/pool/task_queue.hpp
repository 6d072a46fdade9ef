/* SPDX-License-Identifier: MIT */
/*
 * A bounded queue of tasks for any number of threads: Dmitry Vyukov's ring, in which each cell has a number that says
 * whose turn it is with it. The libraries that have it fix the size of an element when they are compiled; a pool's
 * tasks have a size that only its user knows.
 */
#ifndef PTSCHED_POOL_TASK_QUEUE_HPP
#define PTSCHED_POOL_TASK_QUEUE_HPP

#include "libptsched/base/sleepers.hpp"
#include <ptsched/pool/slots.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace ptsched::pool {

/* The output of a task that comes back to its receipt. */
constexpr std::uint32_t to_sender = 0xffffffff;

/* What goes with a task through the pool. */
struct Label {
    std::uint64_t
        number; /* of the tasks that were pushed for its output, from 1 on; to_sender: the receipt's address */
    std::uint32_t output;
    std::uint8_t kind;
};

/* As errors name the task. */
inline std::string describe(const Label &label)
{
    if (label.output == to_sender)
        return "a task with a receipt, of kind " + std::to_string(label.kind);
    return "task " + std::to_string(label.number) + " of output " + std::to_string(label.output) + ", of kind " +
           std::to_string(label.kind);
}

class TaskQueue {
public:
    /* Who finds it full sleeps until a quarter is free again, or each task that is taken would wake him for one. */
    bool is_roomy() const { return size() <= last_ + 1 - (last_ + 4) / 4; }

    /* Of at least @capacity tasks of @bytes each; behind them there is room for what comes with the last piece. */
    TaskQueue(std::size_t capacity, std::size_t bytes)
        : last_(std::bit_ceil(capacity < 2 ? 2 : capacity) - 1),
          stride_(aligned(sizeof(Cell) + pieces_of(bytes) * bytes_of_piece + sizeof(unsigned))),
          cells_(static_cast<std::byte *>(::operator new((last_ + 1) * stride_, alignment)))
    {
        for (std::size_t i = 0; i <= last_; i++)
            new (&cell(i)) Cell{i, {}};
    }

    /*
     * Up to @most tasks: @fill(i, count, to) writes the i-th of @count, and returns its label. Returns for how many
     * there was room. Does not block.
     */
    template <typename Fill> std::size_t push(std::size_t most, Fill fill)
    {
        std::uint64_t at;
        const std::size_t count = claim(end_, most, 0, at);
        /* The next ones come to this processor meanwhile: another has used them last. */
        for (std::size_t i = 0; i < (count ? count + 4 : 0); i++)
            __builtin_prefetch(&cell(at + i), 1);
        for (std::size_t i = 0; i < count; i++) {
            Cell &place = cell(at + i);
            place.label = fill(i, count, task_of(place));
        }
        for (std::size_t i = 0; i < count; i++)
            cell(at + i).turn.store(at + i + 1, std::memory_order_release);
        return count;
    }

    /* Up to @most: @take(task, label) reads each. Returns how many there were. Does not block. */
    template <typename Take> std::size_t pop(std::size_t most, Take take)
    {
        std::uint64_t at;
        const std::size_t count = claim(begin_, most, 1, at);
        for (std::size_t i = 0; i < count; i++) {
            Cell &place = cell(at + i);
            take(static_cast<const std::byte *>(task_of(place)), std::as_const(place.label));
        }
        for (std::size_t i = 0; i < count; i++)
            cell(at + i).turn.store(at + i + last_ + 1, std::memory_order_release);
        return count;
    }

    /* How many there are, if nobody pushes or pops. */
    std::size_t size() const
    {
        const std::uint64_t begin = begin_.load(std::memory_order_acquire), end = end_.load(std::memory_order_acquire);
        return end > begin ? end - begin : 0;
    }

private:
    /* Tasks behind it are aligned as they may have to be. */
    struct alignas(Piece) Cell {
        std::atomic<std::uint64_t> turn;
        Label label;
    };
    struct Deleter {
        void operator()(std::byte *memory) const { ::operator delete(memory, alignment); }
    };
    static constexpr std::align_val_t alignment{64};

    /* The cells from @at on whose turn it is, as many as there are one after another, are the caller's. */
    std::size_t claim(std::atomic<std::uint64_t> &next, std::size_t most, std::uint64_t turn, std::uint64_t &at)
    {
        at = next.load(std::memory_order_relaxed);
        for (;;) {
            std::size_t count = 0;
            std::int64_t ahead = 0;
            while (count < most) {
                ahead = static_cast<std::int64_t>(cell(at + count).turn.load(std::memory_order_acquire) -
                                                  (at + count + turn));
                if (ahead)
                    break;
                count++;
            }
            if (!count && ahead <= 0)
                return 0;
            /* Somebody else was faster. */
            if (!count)
                at = next.load(std::memory_order_relaxed);
            else if (next.compare_exchange_weak(at, at + count, std::memory_order_relaxed))
                return count;
        }
    }

    static std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
    Cell &cell(std::uint64_t at) { return *reinterpret_cast<Cell *>(cells_.get() + (at & last_) * stride_); }
    static std::byte *task_of(Cell &place) { return reinterpret_cast<std::byte *>(&place + 1); }

    const std::size_t last_, stride_;
    const std::unique_ptr<std::byte, Deleter> cells_;
    /* Each by itself in what processors exchange. */
    alignas(64) std::atomic<std::uint64_t> end_{0};
    alignas(64) std::atomic<std::uint64_t> begin_{0};
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_TASK_QUEUE_HPP */
