/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_VIEW_HPP
#define PTSCHED_DEVICE_VIEW_HPP

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace ptsched::device {

/*
 * The content of a datablock, as an array. It keeps the block, so that a task that is to change the block in place gets
 * a copy as long as this lives. A temporary one gives out no address: what it shows may be gone with it.
 */
template <typename T> class View {
    static_assert(std::is_trivially_copyable_v<T>, "a datablock has bytes, which are no objects of that type");

public:
    /* It is not contiguous, as far as the standard library knows: std::span would take what a temporary shows. */
    using iterator = std::reverse_iterator<std::reverse_iterator<const T *>>;
    using const_iterator = iterator;
    using value_type = T;

    /* Of no block. */
    View() = default;
    View(std::shared_ptr<const void> owner, const T *data, std::size_t size)
        : owner_(std::move(owner)), data_(data), size_(size)
    {
    }

    /* Whether it is of a block, which may be empty. */
    explicit operator bool() const { return owner_ != nullptr; }
    std::size_t size() const { return size_; }
    bool empty() const { return !size_; }
    const T *data() const & { return data_; }
    const T *data() const && = delete;
    const T &operator[](std::size_t i) const & { return data_[i]; }
    T operator[](std::size_t i) const && { return data_[i]; }
    iterator begin() const { return at(data_); }
    iterator end() const { return at(data_ + size_); }
    std::span<const T> span() const & { return {data_, size_}; }
    std::span<const T> span() const && = delete;
    operator std::span<const T>() const & { return span(); }
    operator std::span<const T>() const && = delete;

private:
    static iterator at(const T *element) { return iterator(std::reverse_iterator<const T *>(element)); }

    std::shared_ptr<const void> owner_;
    const T *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_VIEW_HPP */
