/* SPDX-License-Identifier: MIT */
/* An allocator that keeps what is given back for the next one of the same size, whichever thread that is. */
#ifndef PTSCHED_DEVICE_RECYCLED_HPP
#define PTSCHED_DEVICE_RECYCLED_HPP

#include "mutex.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

namespace ptsched::device {

template <std::size_t size, std::size_t alignment> class FreeList {
public:
    void *take()
    {
        {
            std::lock_guard lock(mutex_);
            if (Node *node = first_) {
                first_ = node->next;
                count_--;
                return node;
            }
        }
        return ::operator new(size, std::align_val_t(alignment));
    }

    void give(void *memory) noexcept
    {
        {
            std::lock_guard lock(mutex_);
            if (count_ < most) {
                first_ = new (memory) Node{first_};
                count_++;
                return;
            }
        }
        ::operator delete(memory, std::align_val_t(alignment));
    }

private:
    struct Node {
        Node *next;
    };
    static_assert(size >= sizeof(Node));
#ifdef __SANITIZE_ADDRESS__
    static constexpr std::size_t most = 0; /* what is used after it is gone is to be found */
#else
    static constexpr std::size_t most = 1 << 16;
#endif

    SmallMutex mutex_;
    Node *first_ = nullptr;
    std::size_t count_ = 0;
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
