/* SPDX-License-Identifier: MIT */
/* A queue that keeps its memory: what passes through it needs no allocation. One alone has its place in the queue. */
#ifndef PTSCHED_BASE_RING_HPP
#define PTSCHED_BASE_RING_HPP

#include <cstddef>
#include <memory>
#include <utility>

namespace ptsched {

template <typename T> class Ring {
public:
    Ring() = default;
    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;

    bool empty() const { return !size_; }
    std::size_t size() const { return size_; }
    T &front() { return (*this)[0]; }
    const T &front() const { return (*this)[0]; }
    T &operator[](std::size_t i) { return slots_[(first_ + i) & last_]; }
    const T &operator[](std::size_t i) const { return slots_[(first_ + i) & last_]; }

    void push_back(T &&value)
    {
        if (size_ > last_)
            grow();
        (*this)[size_++] = std::move(value);
    }

    void push_front(T &&value)
    {
        if (size_ > last_)
            grow();
        first_ = (first_ - 1) & last_;
        size_++;
        front() = std::move(value);
    }

    /* What is left of it keeps nothing alive. */
    T pop_front()
    {
        T value = std::move(front());
        first_ = (first_ + 1) & last_;
        size_--;
        return value;
    }

    void clear()
    {
        while (!empty())
            pop_front();
    }

private:
    /* The number of slots is a power of two. */
    void grow()
    {
        auto more = std::make_unique<T[]>(2 * size_);
        for (unsigned i = 0; i < size_; i++)
            more[i] = std::move((*this)[i]);
        more_ = std::move(more);
        slots_ = more_.get();
        last_ = 2 * size_ - 1;
        first_ = 0;
    }

    T *slots_ = &alone_;
    unsigned first_ = 0, size_ = 0, last_ = 0;
    std::unique_ptr<T[]> more_;
    T alone_{};
};

} // namespace ptsched

#endif /* PTSCHED_BASE_RING_HPP */
