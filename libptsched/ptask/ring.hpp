/* SPDX-License-Identifier: MIT */
/* A queue that keeps its memory: what passes through it needs no allocation. */
#ifndef PTSCHED_PTASK_RING_HPP
#define PTSCHED_PTASK_RING_HPP

#include <cstddef>
#include <utility>
#include <vector>

namespace ptsched::ptask {

template <typename T> class Ring {
public:
    bool empty() const { return !size_; }
    std::size_t size() const { return size_; }
    T &front() { return (*this)[0]; }
    const T &front() const { return (*this)[0]; }
    T &operator[](std::size_t i) { return slots_[(first_ + i) & (slots_.size() - 1)]; }
    const T &operator[](std::size_t i) const { return slots_[(first_ + i) & (slots_.size() - 1)]; }

    void push_back(T &&value)
    {
        if (size_ == slots_.size())
            grow();
        (*this)[size_++] = std::move(value);
    }

    void push_front(T &&value)
    {
        if (size_ == slots_.size())
            grow();
        first_ = (first_ - 1) & (slots_.size() - 1);
        size_++;
        front() = std::move(value);
    }

    /* What is left of it keeps nothing alive. */
    T pop_front()
    {
        T value = std::move(front());
        first_ = (first_ + 1) & (slots_.size() - 1);
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
        std::vector<T> more(slots_.empty() ? 2 : 2 * slots_.size());
        for (std::size_t i = 0; i < size_; i++)
            more[i] = std::move((*this)[i]);
        slots_ = std::move(more);
        first_ = 0;
    }

    std::vector<T> slots_;
    std::size_t first_ = 0, size_ = 0;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_RING_HPP */
