// SPDX-License-Identifier: MIT
#include "tools/ptsched/format.hpp"

#include "tools/ptsched/json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <pwd.h>

namespace ptsched {

namespace {

std::string name_in(const auto &names, std::uint32_t number)
{
    return number < names.size() && names[number] ? names[number] : "unknown(" + std::to_string(number) + ")";
}

std::string format_double(const char *form, double value)
{
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), form, value);
    return buffer.data();
}

} // namespace

std::string format_duration(std::uint64_t ns)
{
    struct Unit {
        const char *name;
        std::uint64_t ns;
    };
    constexpr std::array units = {Unit{"s", 1000000000}, Unit{"ms", 1000000}, Unit{"us", 1000}};

    if (ns == 0)
        return "0";
    for (const Unit &unit : units)
        if (ns >= unit.ns && ns % (unit.ns / 1000) == 0)
            return format_thousandths(ns / (unit.ns / 1000)) + unit.name;
    return std::to_string(ns) + "ns";
}

std::string format_rounded(std::int64_t ns)
{
    struct Unit {
        const char *name;
        double ns;
    };
    constexpr std::array units = {Unit{"s", 1e9}, Unit{"ms", 1e6}, Unit{"us", 1e3}};
    double value = static_cast<double>(ns);

    for (const Unit &unit : units) {
        if (std::fabs(value) < unit.ns)
            continue;
        double scaled = value / unit.ns;
        return format_double(std::fabs(scaled) >= 100  ? "%.0f"
                             : std::fabs(scaled) >= 10 ? "%.1f"
                                                       : "%.2f",
                             scaled) +
               unit.name;
    }
    return ns ? std::to_string(ns) + "ns" : "0";
}

std::string format_thousandths(std::uint64_t thousandths)
{
    std::string text = std::to_string(thousandths / 1000);
    std::uint64_t rest = thousandths % 1000;

    if (rest) {
        std::string decimals = std::to_string(1000 + rest).substr(1);
        decimals.erase(decimals.find_last_not_of('0') + 1);
        text += "." + decimals;
    }
    return text;
}

std::string format_percent(double part)
{
    return format_double("%.1f", 100 * part);
}

std::string format_count(double count)
{
    const char *units[] = {"", "k", "M", "G"};
    unsigned unit = 0;
    for (; count >= 999.5 && unit + 1 < std::size(units); unit++)
        count /= 1000;
    const char *format = !unit || count >= 99.95 ? "%.0f" : count >= 9.995 ? "%.1f" : "%.2f";
    return format_double(format, count) + units[unit];
}

std::string printable(const std::string &text)
{
    std::string shown = text;
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, '?');
    return shown;
}

std::string printable_utf8(const std::string &text)
{
    return Json::parse(dump_json(Json(printable(text)))).get<std::string>();
}

std::string policy_name(std::uint32_t policy)
{
    return name_in(std::array{"weighted", "literal", "none"}, policy);
}

std::string grouping_name(std::uint32_t grouping)
{
    return name_in(std::array{"process", "user", "cgroup"}, grouping);
}

std::string state_name(std::uint32_t state)
{
    return name_in(std::array{"idle", "waiting", "holding"}, state);
}

std::string mechanism_name(std::uint32_t mechanism)
{
    return name_in(std::array{"account", "gate", "slice", "preempt"}, mechanism);
}

std::string event_name(std::uint32_t event)
{
    return name_in(std::array<const char *, 12>{nullptr, "attach", "exit", "grant", "callback", "release", "forced",
                                                "settings", "preempt", "lost", "wait", "cancel"},
                   event);
}

std::string user_name(std::uint32_t uid)
{
    const passwd *found = getpwuid(uid);
    return found ? found->pw_name : std::to_string(uid);
}

Table::Table(std::vector<std::string> columns)
{
    for (std::string &column : columns) {
        right_.push_back(column.starts_with('>'));
        if (right_.back())
            column.erase(0, 1);
    }
    rows_.push_back(std::move(columns));
}

void Table::add(std::vector<std::string> cells)
{
    cells.resize(right_.size());
    rows_.push_back(std::move(cells));
}

std::vector<std::string> Table::lines() const
{
    std::vector<std::size_t> widths(right_.size());
    std::vector<std::string> lines;

    for (const auto &row : rows_)
        for (std::size_t i = 0; i < row.size(); i++)
            widths[i] = std::max(widths[i], row[i].size());
    for (const auto &row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); i++) {
            std::string fill(widths[i] - row[i].size(), ' ');
            line += (i ? "  " : "") + (right_[i] ? fill + row[i] : row[i] + fill);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(line);
    }
    return lines;
}

} // namespace ptsched
