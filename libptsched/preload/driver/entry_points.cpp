// SPDX-License-Identifier: MIT
#include "libptsched/preload/driver/entry_points.hpp"

#include <algorithm>
#include <array>

namespace ptsched::preload {
namespace {

constexpr std::array<std::string_view, entry_count> names = {
#define EACH(name) #name,
#include "libptsched/preload/driver/entry_points.def"
};

constexpr std::string_view passed[] = {
#define PASS(name) #name,
#include "libptsched/preload/driver/entry_points.def"
};

struct Named {
    std::string_view name;
    Entry entry;
};

constexpr auto sorted = [] {
    std::array<Named, entry_count> table{};
    for (std::size_t i = 0; i < entry_count; i++)
        table[i] = {names[i], static_cast<Entry>(i)};
    std::sort(table.begin(), table.end(), [](const Named &a, const Named &b) { return a.name < b.name; });
    return table;
}();

} // namespace

std::string_view entry_name(Entry entry)
{
    return names[static_cast<std::size_t>(entry)];
}

std::optional<Entry> find_entry(std::string_view name)
{
    auto found = std::lower_bound(sorted.begin(), sorted.end(), name,
                                  [](const Named &a, std::string_view b) { return a.name < b; });
    if (found == sorted.end() || found->name != name)
        return std::nullopt;
    return found->entry;
}

bool is_unknown_submission(std::string_view name)
{
    static constexpr std::string_view prefixes[] = {"cuLaunch", "cuMemcpy", "cuMemset", "cuGraphLaunch",
                                                    "cuGraphUpload"};
    bool submits = std::any_of(std::begin(prefixes), std::end(prefixes), [&](auto p) { return name.starts_with(p); }) ||
                   name.find("Async") != name.npos;
    if (!submits)
        return false;
    auto same_function = [&](std::string_view known) {
        return known.starts_with(name) && (known.size() == name.size() || known[name.size()] == '_');
    };
    return std::none_of(names.begin(), names.end(), same_function) &&
           std::none_of(std::begin(passed), std::end(passed), same_function);
}

} // namespace ptsched::preload
