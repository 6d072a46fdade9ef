/* SPDX-License-Identifier: MIT */
/*
 * Keys and values without their types, as engines, files and messages have them. Each is a column: items of one size
 * behind one another, or byte strings. A key's bytes are the key: two are equal if these are.
 */
#ifndef PTSCHED_SPMD_PAIRS_HPP
#define PTSCHED_SPMD_PAIRS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

/* The type of keys and values that are byte strings. What functions are given of one is a std::string_view. */
using Bytes = std::string;

/* Bytes that grow, and are not written where they need not be. Aligned as malloc() does. Not thread-safe. */
class Buffer {
public:
    Buffer() = default;
    Buffer(Buffer &&other) noexcept { swap(other); }
    Buffer &operator=(Buffer &&other) noexcept
    {
        swap(other);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    std::byte *data() { return data_; }
    const std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t room() const { return room_; }
    void clear() { size_ = 0; }
    void reserve(std::size_t bytes)
    {
        if (bytes <= room_)
            return;
        void *grown = std::realloc(data_, bytes);
        if (!grown)
            throw std::bad_alloc();
        data_ = static_cast<std::byte *>(grown);
        room_ = bytes;
    }
    /* @bytes more at the end, which nobody has written yet; valid until the next call. */
    std::byte *grow(std::size_t bytes)
    {
        if (size_ + bytes > room_)
            reserve(std::max(size_ + bytes, room_ + room_ / 2 + 64));
        std::byte *const at = data_ + size_;
        size_ += bytes;
        return at;
    }
    void shrink(std::size_t bytes) { size_ = bytes; }
    void append(const void *from, std::size_t bytes)
    {
        if (bytes > 0)
            std::memcpy(grow(bytes), from, bytes);
    }
    void swap(Buffer &other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
    }

private:
    std::byte *data_ = nullptr;
    std::size_t size_ = 0, room_ = 0;
};

/* How wide a key or a value is, in bytes; for byte strings: any_width. */
inline constexpr std::size_t any_width = ~std::size_t{0};
template <typename T> constexpr std::size_t width_of()
{
    if constexpr (std::is_same_v<T, Bytes>) {
        return any_width;
    } else {
        static_assert(std::is_trivially_copyable_v<T>, "keys and values are trivially copyable, or spmd::Bytes");
        static_assert(alignof(T) <= alignof(std::max_align_t), "keys and values are aligned as malloc() does at most");
        return sizeof(T);
    }
}

/* Keys, or values. Items of a fixed width lie at multiples of it from data(), aligned for their type. */
class Column {
public:
    explicit Column(std::size_t width) : width_(width) {}

    std::size_t width() const { return width_; }
    bool is_fixed() const { return width_ != any_width; }
    std::size_t size() const { return is_fixed() ? bytes_.size() / width_ : ends_.size(); }
    bool empty() const { return bytes_.size() == 0 && ends_.empty(); }
    /* Memory that it holds. */
    std::size_t footprint() const { return bytes_.room() + ends_.capacity() * sizeof(std::uint64_t); }
    std::byte *data() { return bytes_.data(); }
    const std::byte *data() const { return bytes_.data(); }
    /* All bytes of all items. */
    std::size_t bytes() const { return bytes_.size(); }
    /* Of byte strings: where each ends, in bytes from data(). */
    const std::vector<std::uint64_t> &ends() const { return ends_; }

    std::string_view operator[](std::size_t i) const
    {
        const std::size_t begin = is_fixed() ? i * width_ : i == 0 ? 0 : ends_[i - 1];
        const std::size_t length = is_fixed() ? width_ : ends_[i] - begin;
        return {reinterpret_cast<const char *>(bytes_.data()) + begin, length};
    }
    /* An item of the type that all have. */
    template <typename T> decltype(auto) get(std::size_t i) const
    {
        if constexpr (std::is_same_v<T, Bytes>)
            return (*this)[i];
        else
            return (reinterpret_cast<const T *>(bytes_.data())[i]);
    }
    /* Of a fixed width, which @item has. */
    void append(std::string_view item)
    {
        bytes_.append(item.data(), item.size());
        if (!is_fixed())
            ends_.push_back(bytes_.size());
    }
    void append(const Column &other) { append(other, 0, other.size()); }
    void append(const Column &other, std::size_t first, std::size_t count)
    {
        if (count == 0)
            return;
        const std::string_view begin = other[first], last = other[first + count - 1];
        const std::uint64_t before = bytes_.size();
        bytes_.append(begin.data(), static_cast<std::size_t>(last.data() + last.size() - begin.data()));
        if (is_fixed())
            return;
        const std::uint64_t from = first == 0 ? 0 : other.ends_[first - 1];
        for (std::size_t i = first; i < first + count; i++)
            ends_.push_back(other.ends_[i] - from + before);
    }
    /* @count items of a fixed width that the caller writes; valid until the next call. */
    std::byte *grow(std::size_t count) { return bytes_.grow(count * width_); }
    /* The same of byte strings, which have @width bytes each. */
    std::byte *grow_strings(std::size_t count, std::size_t width)
    {
        std::uint64_t end = bytes_.size();
        ends_.reserve(ends_.size() + count);
        for (std::size_t i = 0; i < count; i++)
            ends_.push_back(end += width);
        return bytes_.grow(count * width);
    }
    /* The items of another column, whose bytes the caller copies to there; valid until the next call but this one. */
    std::byte *grow_as(const Column &other)
    {
        const std::uint64_t before = bytes_.size();
        for (const std::uint64_t end : other.ends_)
            ends_.push_back(before + end);
        return bytes_.grow(other.bytes());
    }
    void reserve_bytes(std::size_t bytes) { bytes_.reserve(bytes); }
    /* Items that others have made: all their bytes, and for byte strings where each ends. */
    void assign(const void *bytes, std::size_t size, std::vector<std::uint64_t> ends = {})
    {
        clear();
        bytes_.append(bytes, size);
        ends_ = std::move(ends);
    }
    void reserve(std::size_t items)
    {
        if (is_fixed())
            bytes_.reserve(items * width_);
        else
            ends_.reserve(items);
    }
    void clear()
    {
        bytes_.clear();
        ends_.clear();
    }

private:
    std::size_t width_;
    Buffer bytes_;
    std::vector<std::uint64_t> ends_;
};

/* As many keys as values. */
struct Pairs {
    Pairs(std::size_t key_width, std::size_t value_width) : keys(key_width), values(value_width) {}

    std::size_t size() const { return keys.size(); }
    bool empty() const { return keys.empty(); }
    std::size_t bytes() const { return keys.bytes() + values.bytes(); }
    std::size_t footprint() const { return keys.footprint() + values.footprint(); }
    void append(std::string_view key, std::string_view value)
    {
        keys.append(key);
        values.append(value);
    }
    void append(const Pairs &other)
    {
        keys.append(other.keys);
        values.append(other.values);
    }
    void append(const Pairs &other, std::size_t first, std::size_t count)
    {
        keys.append(other.keys, first, count);
        values.append(other.values, first, count);
    }
    void clear()
    {
        keys.clear();
        values.clear();
    }

    Column keys, values;
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_PAIRS_HPP */
