/* SPDX-License-Identifier: MIT */
/* Numbers and names as people read them, and tables. */
#ifndef PTSCHED_TOOL_FORMAT_HPP
#define PTSCHED_TOOL_FORMAT_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace ptsched {

/* Exact, in the largest unit that gives no more than three decimals: "10ms", "1.5s". */
std::string format_duration(std::uint64_t ns);
/* Rounded to three or four digits: "1.23s". */
std::string format_rounded(std::int64_t ns);
std::string format_thousandths(std::uint64_t thousandths);
std::string format_percent(double part);
/* Rounded to a whole number, or to three digits of thousands and so on: "16.5k". */
std::string format_count(double count);
/* Control characters, which a process may have in its name, made visible. */
std::string printable(const std::string &text);

/* The same, and bytes that are not UTF-8, too. */
std::string printable_utf8(const std::string &text);

/* Names of uapi numbers; a number not known here is shown as such. */
std::string policy_name(std::uint32_t policy);
std::string grouping_name(std::uint32_t grouping);
std::string state_name(std::uint32_t state);
std::string mechanism_name(std::uint32_t mechanism);
std::string event_name(std::uint32_t event);
std::string user_name(std::uint32_t uid);

/* Columns as wide as their widest cell; those whose name begins with '>' are right-aligned. */
class Table {
public:
    explicit Table(std::vector<std::string> columns);
    void add(std::vector<std::string> cells);
    /* The header, then the rows. */
    std::vector<std::string> lines() const;

private:
    std::vector<bool> right_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace ptsched

#endif /* PTSCHED_TOOL_FORMAT_HPP */
