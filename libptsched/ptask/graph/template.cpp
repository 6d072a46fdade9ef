// SPDX-License-Identifier: MIT
#include "libptsched/ptask/graph/type_name.hpp"
#include <ptsched/ptask/template.hpp>

namespace ptsched::ptask {

bool Template::takes(std::size_t size) const
{
    switch (layout) {
    case Layout::fixed:
        return size == bytes();
    case Layout::variable:
        return size % stride == 0 && size <= bytes();
    case Layout::opaque:
        return true;
    }
    return false;
}

bool Template::can_be() const
{
    std::size_t count = 1;
    for (std::size_t dimension : dimensions)
        if (__builtin_mul_overflow(count, dimension, &count))
            return false;
    return can_have(count);
}

bool Template::fits(const Template &other) const
{
    if (layout != other.layout)
        return false;
    return layout == Layout::opaque ||
           (dimensions == other.dimensions && stride == other.stride && !has_other_type(other));
}

std::string Template::describe_beside(const Template &other) const
{
    return describe() + (has_other_type(other) ? " (" + type_name(*type) + ")" : "");
}

std::string Template::describe() const
{
    const std::string of = " records of " + std::to_string(stride) + " bytes";

    if (layout == Layout::opaque)
        return "any number of bytes";
    if (layout == Layout::variable && dimensions[1] == 1 && dimensions[2] == 1)
        return "at most " + std::to_string(dimensions[0]) + of;
    return (layout == Layout::variable ? "at most " : "") + std::to_string(dimensions[0]) + " x " +
           std::to_string(dimensions[1]) + " x " + std::to_string(dimensions[2]) + of;
}

} // namespace ptsched::ptask
