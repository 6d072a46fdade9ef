/* SPDX-License-Identifier: MIT */
/*
 * What a task says of the memory that it uses. Each of the following makes an access of a range: of an array or a span,
 * of a pointer and a number of elements, of one object, or of a tile of a matrix.
 *
 *	in(x)  out(y)  inout(tile)  commutative(sum)  reduction<Sum>(total)  weak_inout(whole)
 */
#ifndef PTSCHED_TASKS_RANGE_HPP
#define PTSCHED_TASKS_RANGE_HPP

#include <ptsched/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

#pragma GCC visibility push(default)

namespace ptsched::tasks {

/* So many rows of bytes, with @pitch bytes from the begin of one to that of the next; of one row it does not matter. */
struct Range {
    std::byte *begin = nullptr;
    std::size_t row_bytes = 0, rows = 1, pitch = 0;

    std::size_t bytes() const { return rows * row_bytes; }
    /* From the first byte to the last, with what is between rows. */
    std::size_t span() const { return rows ? (rows - 1) * pitch + row_bytes : 0; }
    bool operator==(const Range &) const = default;
};

/* As "0x7f2a00001000, 4096 bytes" or "0x7f2a00001000, 64 rows of 512 bytes". */
std::string describe(const Range &range);
/* Whether they have a byte in common. */
bool overlap(const Range &one, const Range &other);
/* Whether @inner has no byte that @outer has not. */
bool covers(const Range &outer, const Range &inner);

enum class Mode : std::uint8_t {
    in,          /* is read */
    out,         /* is written, all of it: what was there does not matter */
    inout,       /* is read and written */
    commutative, /* the same, in any order, but by one task at a time */
    reduction,   /* each task adds to a copy of its own, and these are combined */
    weak_in,     /* not by the task itself, but perhaps by tasks that it makes */
    weak_out,
    weak_inout,
};
const char *to_string(Mode mode);

constexpr bool is_weak(Mode mode)
{
    return mode >= Mode::weak_in;
}
constexpr bool writes(Mode mode)
{
    return mode != Mode::in && mode != Mode::weak_in;
}
constexpr bool reads(Mode mode)
{
    return mode != Mode::out && mode != Mode::weak_out;
}

/* How the copies of a reduction begin, and come together. Of @bytes each. */
struct Combine {
    void (*begin)(void *copy, std::size_t bytes);
    void (*add)(void *to, const void *copy, std::size_t bytes);
    bool operator==(const Combine &) const = default;
};

struct Access {
    Range range{};
    Mode mode = Mode::in;
    const Combine *combine = nullptr; /* of a reduction */
};

/*
 * A part of a matrix in row-major order: element (row, column) is at data[row * stride + column]. In a task on a GPU,
 * the tile that it is given may have another stride.
 */
template <typename T> struct Tile {
    T *data = nullptr;
    std::size_t rows = 0, columns = 0, stride = 0;

    T &operator()(std::size_t row, std::size_t column) const { return data[row * stride + column]; }
    /* Of this one. */
    Tile part(std::size_t row, std::size_t column, std::size_t of_rows, std::size_t of_columns) const
    {
        return {data + row * stride + column, of_rows, of_columns, stride};
    }
    operator Tile<const T>() const requires(!std::is_const_v<T>) { return {data, rows, columns, stride}; }
};

/* Where a task finds what it has declared. */
struct Place {
    void *address = nullptr;
    std::size_t pitch = 0; /* of a tile, from one row to the next, in bytes; 0: as it was declared */
};

/* An access, and how the task's function is given it: a pointer, or a tile. */
template <typename Argument> struct TypedAccess;
template <typename T> struct TypedAccess<T *> : Access {
    struct Maker {
        T *operator()(const Place &place) const { return static_cast<T *>(place.address); }
    };
    Maker maker{};
};
template <typename T> struct TypedAccess<Tile<T>> : Access {
    struct Maker {
        std::size_t rows, columns, stride;
        Tile<T> operator()(const Place &place) const
        {
            return {static_cast<T *>(place.address), rows, columns, place.pitch ? place.pitch / sizeof(T) : stride};
        }
    };
    Maker maker{};
};

namespace detail {

template <typename T> std::byte *address(T *pointer)
{
    return reinterpret_cast<std::byte *>(const_cast<std::remove_cv_t<T> *>(pointer));
}

/* What is read is const for who reads it. */
template <typename T, Mode mode> using Element = std::conditional_t<writes(mode), T, const T>;

template <Mode mode, typename T> auto access(T *pointer, std::size_t count, const Combine *combine = nullptr)
{
    static_assert(std::is_trivially_copyable_v<T>, "a range has bytes, which are no objects of that type");
    static_assert(!writes(mode) || !std::is_const_v<T>, "what is const is not written");
    return TypedAccess<Element<T, mode> *>{{{address(pointer), count * sizeof(T), 1, 0}, mode, combine}, {}};
}

template <Mode mode, typename T> auto access(const Tile<T> &tile, const Combine *combine = nullptr)
{
    static_assert(std::is_trivially_copyable_v<T>, "a tile has bytes, which are no objects of that type");
    static_assert(!writes(mode) || !std::is_const_v<T>, "what is const is not written");
    const bool dense = tile.columns == tile.stride || tile.rows == 1;
    const Range range = dense ? Range{address(tile.data), tile.rows * tile.columns * sizeof(T), 1, 0}
                              : Range{address(tile.data), tile.columns * sizeof(T), tile.rows, tile.stride * sizeof(T)};
    return TypedAccess<Tile<Element<T, mode>>>{{range, mode, combine}, {tile.rows, tile.columns, tile.stride}};
}

template <typename T> constexpr bool is_tile = false;
template <typename T> constexpr bool is_tile<Tile<T>> = true;

template <Mode mode, typename Memory> auto access_of(Memory &&memory, const Combine *combine = nullptr)
{
    using Plain = std::remove_cvref_t<Memory>;
    if constexpr (is_tile<Plain>) {
        return access<mode>(memory, combine);
    } else if constexpr (std::ranges::contiguous_range<Memory>) {
        static_assert(std::is_lvalue_reference_v<Memory> || std::ranges::borrowed_range<Plain>,
                      "what is temporary is gone before the task runs");
        return access<mode>(std::ranges::data(memory), std::ranges::size(memory), combine);
    } else {
        static_assert(std::is_lvalue_reference_v<Memory>, "what is temporary is gone before the task runs");
        static_assert(!std::is_pointer_v<Plain>, "say of how many elements: in(pointer, count)");
        return access<mode>(std::addressof(memory), 1, combine);
    }
}

/* Of a function like std::plus<>, and of what a copy begins with. */
template <typename T, typename Function> struct CombineOf {
    static void begin(void *copy, std::size_t bytes)
    {
        for (std::size_t i = 0; i < bytes / sizeof(T); i++)
            static_cast<T *>(copy)[i] = Function::template first<T>();
    }
    static void add(void *to, const void *copy, std::size_t bytes)
    {
        for (std::size_t i = 0; i < bytes / sizeof(T); i++)
            static_cast<T *>(to)[i] = Function{}(static_cast<T *>(to)[i], static_cast<const T *>(copy)[i]);
    }
    static constexpr Combine combine{begin, add};
};

} // namespace detail

/* What may be combined: how, and what the copies begin with. Others may be written like these. */
struct Sum {
    template <typename T> static constexpr T first() { return T{}; }
    template <typename T> constexpr T operator()(const T &a, const T &b) const { return a + b; }
};
struct Product {
    template <typename T> static constexpr T first() { return T{1}; }
    template <typename T> constexpr T operator()(const T &a, const T &b) const { return a * b; }
};

#define PTSCHED_TASKS_ACCESS(name)                                                                                     \
    template <typename Memory> auto name(Memory &&memory)                                                              \
    {                                                                                                                  \
        return detail::access_of<Mode::name>(static_cast<Memory &&>(memory));                                          \
    }                                                                                                                  \
    template <typename T> auto name(T *pointer, std::size_t count)                                                     \
    {                                                                                                                  \
        return detail::access<Mode::name>(pointer, count);                                                             \
    }
PTSCHED_TASKS_ACCESS(in)
PTSCHED_TASKS_ACCESS(out)
PTSCHED_TASKS_ACCESS(inout)
PTSCHED_TASKS_ACCESS(commutative)
PTSCHED_TASKS_ACCESS(weak_in)
PTSCHED_TASKS_ACCESS(weak_out)
PTSCHED_TASKS_ACCESS(weak_inout)
#undef PTSCHED_TASKS_ACCESS

template <typename Function, typename Memory> auto reduction(Memory &&memory)
{
    if constexpr (std::ranges::contiguous_range<Memory>) {
        using T = std::ranges::range_value_t<Memory>;
        return detail::access_of<Mode::reduction>(static_cast<Memory &&>(memory),
                                                  &detail::CombineOf<T, Function>::combine);
    } else {
        using T = std::remove_cvref_t<Memory>;
        static_assert(!detail::is_tile<T>, "reductions are of arrays and single objects");
        return detail::access_of<Mode::reduction>(static_cast<Memory &&>(memory),
                                                  &detail::CombineOf<T, Function>::combine);
    }
}
template <typename Function, typename T> auto reduction(T *pointer, std::size_t count)
{
    return detail::access<Mode::reduction>(pointer, count, &detail::CombineOf<T, Function>::combine);
}

} // namespace ptsched::tasks

#pragma GCC visibility pop

#endif /* PTSCHED_TASKS_RANGE_HPP */
