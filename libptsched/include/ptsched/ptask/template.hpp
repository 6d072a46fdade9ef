/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_TEMPLATE_HPP
#define PTSCHED_PTASK_TEMPLATE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <typeinfo>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

enum class Layout {
    fixed,    /* as many records as the dimensions say */
    variable, /* any number of records, at most as many as the dimensions say */
    opaque,   /* any number of bytes */
};

/* How code finds what a port has. */
enum class Binding : unsigned char {
    global,   /* by an address */
    constant, /* CUDA: in the module's variable that is named like the port; else by an address. Is only read. */
    by_value, /* the parameter is the content, of fixed form */
};

/* The form of a datablock: up to three dimensions of records of @stride bytes. */
struct Template {
    /* Of a block: no object is larger. */
    static constexpr std::size_t most_bytes = PTRDIFF_MAX;

    std::array<std::size_t, 3> dimensions{1, 1, 1};
    std::size_t stride = 1;
    Layout layout = Layout::fixed;
    Binding binding = Binding::global;
    /* Of a record; null where nobody has said it, as for std::byte, which stands for any. */
    const std::type_info *type = nullptr;

    template <typename T> static const std::type_info *type_of()
    {
        return std::is_same_v<T, std::byte> ? nullptr : &typeid(T);
    }
    template <typename T> static Template of(std::size_t x, std::size_t y = 1, std::size_t z = 1)
    {
        return {{x, y, z}, sizeof(T), Layout::fixed, Binding::global, type_of<T>()};
    }
    /* A stream of at most @records. */
    template <typename T> static Template variable(std::size_t records)
    {
        return {{records, 1, 1}, sizeof(T), Layout::variable, Binding::global, type_of<T>()};
    }
    static Template opaque() { return {{1, 1, 1}, 1, Layout::opaque}; }

    std::size_t records() const { return dimensions[0] * dimensions[1] * dimensions[2]; }
    /* Of the largest block; of an opaque one nobody knows. */
    std::size_t bytes() const { return records() * stride; }
    /* Whether a block could have @count records, and those of the dimensions: sizes of more would overflow. */
    bool can_have(std::size_t count) const { return !stride || count <= most_bytes / stride; }
    bool can_be() const;
    /* Of a block of @bytes, which has this form. */
    std::size_t records(std::size_t bytes) const { return bytes / stride; }
    /* Whether a block of @bytes has this form. */
    bool takes(std::size_t bytes) const;
    /* What one port gives fits another one if this is true, however it is bound there, and whoever knows the type. */
    bool fits(const Template &other) const;
    bool is_integer() const { return layout == Layout::fixed && records() == 1 && (stride == 4 || stride == 8); }
    /* "4 x 4 x 1 records of 8 bytes", "at most 5 records of 8 bytes" */
    std::string describe() const;
    /* With the type, if that is what differs from @other's. */
    std::string describe_beside(const Template &other) const;
    bool has_other_type(const Template &other) const { return type && other.type && *type != *other.type; }
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_TEMPLATE_HPP */
