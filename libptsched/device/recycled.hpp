/* SPDX-License-Identifier: MIT */
/* An allocator that keeps what is given back for the next one of the same size, whichever thread that is. */
#ifndef PTSCHED_DEVICE_RECYCLED_HPP
#define PTSCHED_DEVICE_RECYCLED_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/device/kept.hpp"
#include "libptsched/device/lately.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace ptsched::device {

/* No more are kept than were in use of late, and a few. */
template <std::size_t size, std::size_t alignment> class FreeList final : public Keeper {
public:
    constexpr FreeList() = default;

    void *take()
    {
        {
            Guard lock(mutex_);
            most_used_.add(++used_);
            if (Node *node = first_) {
                first_ = node->next;
                count_--;
                return node;
            }
        }
        try {
            return ::operator new(size, std::align_val_t(alignment));
        } catch (...) {
            Guard lock(mutex_);
            used_--;
            throw;
        }
    }

    void give(void *memory) noexcept
    {
        bool is_first;
        {
            Guard lock(mutex_);
            used_--;
            if (count_ < most()) {
                first_ = new (memory) Node{first_};
                count_++;
                memory = nullptr;
            }
            is_first = !std::exchange(known_, true);
        }
        if (is_first)
            become_known();
        if (memory)
            free(memory);
    }

    std::size_t trim() override
    {
        Node *node;
        std::size_t bytes;
        {
            Guard lock(mutex_);
            node = std::exchange(first_, nullptr);
            bytes = std::exchange(count_, 0) * size;
        }
        while (node)
            free(std::exchange(node, node->next));
        return bytes;
    }

private:
    struct Node {
        Node *next;
    };
    static_assert(size >= sizeof(Node));
    static void free(void *memory) { ::operator delete(memory, std::align_val_t(alignment)); }
#ifdef __SANITIZE_ADDRESS__
    static std::size_t most()
    {
        return 0;
    } /* what is used after it is gone is to be found */
#else
    static constexpr std::size_t always_kept = 1024;
    std::size_t most() const PTSCHED_REQUIRES(mutex_)
    {
        return std::max(most_used_.value(), always_kept);
    }
#endif

    SmallMutex mutex_;
    Node *first_ PTSCHED_GUARDED_BY(mutex_) = nullptr;
    std::size_t count_ PTSCHED_GUARDED_BY(mutex_) = 0, used_ PTSCHED_GUARDED_BY(mutex_) = 0;
    MostOfLate most_used_ PTSCHED_GUARDED_BY(mutex_);
    bool known_ PTSCHED_GUARDED_BY(mutex_) = false;
};

/* For std::allocate_shared(). */
template <typename T> struct Recycled {
    using value_type = T;

    Recycled() = default;
    template <typename U> Recycled(const Recycled<U> &) {}

    T *allocate(std::size_t) { return static_cast<T *>(list.take()); }
    void deallocate(T *memory, std::size_t) noexcept { list.give(memory); }
    friend bool operator==(const Recycled &, const Recycled &) { return true; }

private:
    /* Has no destructor: the last of them may be given back at the very end. */
    static inline constinit FreeList<sizeof(T), std::max(alignof(T), std::size_t{64})> list;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_RECYCLED_HPP */
