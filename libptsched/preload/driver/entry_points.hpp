/* SPDX-License-Identifier: MIT */
/* entry_points.def as an enumeration and as tables that can be searched by name. */
#ifndef PTSCHED_PRELOAD_DRIVER_ENTRY_POINTS_HPP
#define PTSCHED_PRELOAD_DRIVER_ENTRY_POINTS_HPP

#include <cstddef>
#include <optional>
#include <string_view>

namespace ptsched::preload {

/* An entry point for which there is a wrapper; the numbers index wrapper_of() and Driver::real(). */
enum class Entry : unsigned {
#define EACH(name) name,
#include "libptsched/preload/driver/entry_points.def"
    count
};

inline constexpr std::size_t entry_count = static_cast<std::size_t>(Entry::count);

/* What handle 0 means to an entry point. */
enum class DefaultStream { legacy, per_thread };

std::string_view entry_name(Entry entry);
std::optional<Entry> find_entry(std::string_view name);

/* The address of our function for @entry. */
void *wrapper_of(Entry entry);

/* Whether @name looks like a call that gives the GPU work and is in no class of entry_points.def. */
bool is_unknown_submission(std::string_view name);

} // namespace ptsched::preload

#endif
