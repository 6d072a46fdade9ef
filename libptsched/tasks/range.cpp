// SPDX-License-Identifier: MIT
#include <ptsched/tasks/range.hpp>

#include <algorithm>
#include <sstream>

namespace ptsched::tasks {

namespace {

std::uintptr_t first(const Range &range)
{
    return reinterpret_cast<std::uintptr_t>(range.begin);
}

/* Whether a row of @range has a byte of @bytes from @begin on. */
bool has_some_of(const Range &range, std::uintptr_t begin, std::size_t bytes)
{
    const std::uintptr_t end = begin + bytes;
    if (!bytes || !range.bytes() || end <= first(range) || begin >= first(range) + range.span())
        return false;
    if (range.rows == 1)
        return true;
    /* The last row that begins before the end, unless there are fewer. */
    const std::size_t row = std::min((end - 1 - first(range)) / range.pitch, range.rows - 1);
    return first(range) + row * range.pitch + range.row_bytes > begin;
}

/* Where their rows lie at the same distance, two columns of them are compared, not all rows. */
bool overlap_of_one_pitch(const Range &one, const Range &other)
{
    const Range &low = first(one) <= first(other) ? one : other, &high = &low == &one ? other : one;
    const std::size_t distance = first(high) - first(low), row = distance / low.pitch, column = distance % low.pitch;
    /* The other's rows begin in the column, and may reach into the row behind. */
    const bool in_row = column < low.row_bytes && row < low.rows;
    const bool in_next = column + high.row_bytes > low.pitch && row + 1 < low.rows;
    return in_row || in_next;
}

} // namespace

std::string describe(const Range &range)
{
    std::ostringstream text;
    text << static_cast<const void *>(range.begin) << ", ";
    if (range.rows != 1)
        text << range.rows << " rows of ";
    text << range.row_bytes << " bytes";
    return text.str();
}

bool overlap(const Range &one, const Range &other)
{
    if (!one.bytes() || !other.bytes() || first(one) + one.span() <= first(other) ||
        first(other) + other.span() <= first(one))
        return false;
    if (one.rows == 1)
        return has_some_of(other, first(one), one.row_bytes);
    if (other.rows == 1)
        return has_some_of(one, first(other), other.row_bytes);
    if (one.pitch == other.pitch)
        return overlap_of_one_pitch(one, other);
    const Range &few = one.rows <= other.rows ? one : other, &many = &few == &one ? other : one;
    for (std::size_t row = 0; row < few.rows; row++)
        if (has_some_of(many, first(few) + row * few.pitch, few.row_bytes))
            return true;
    return false;
}

bool covers(const Range &outer, const Range &inner)
{
    const auto has = [&](std::uintptr_t begin, std::size_t bytes) {
        if (begin < first(outer) || begin + bytes > first(outer) + outer.span())
            return false;
        if (outer.rows == 1)
            return true;
        const std::size_t column = (begin - first(outer)) % outer.pitch;
        return column + bytes <= outer.row_bytes || outer.row_bytes == outer.pitch;
    };
    for (std::size_t row = 0; row < inner.rows && inner.row_bytes; row++)
        if (!has(first(inner) + row * inner.pitch, inner.row_bytes))
            return false;
    return true;
}

const char *to_string(Mode mode)
{
    static constexpr const char *names[] = {"in",        "out",     "inout",    "commutative",
                                            "reduction", "weak_in", "weak_out", "weak_inout"};
    return names[static_cast<unsigned>(mode)];
}

} // namespace ptsched::tasks
