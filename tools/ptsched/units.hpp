/* SPDX-License-Identifier: MIT */
/* What people write on the command line, checked: settings, times, numbers. */
#ifndef PTSCHED_TOOL_UNITS_HPP
#define PTSCHED_TOOL_UNITS_HPP

#include "tools/ptsched/scheduler.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptsched {

/*
 * All throw Error with the name of what is wrong, the value and the range.
 */

/* "10ms", "1.5s", "200us", "50ns"; plain "0" needs no unit. */
std::uint64_t parse_duration(const std::string &name, const std::string &text, std::uint64_t min, std::uint64_t max);
std::int64_t parse_integer(const std::string &name, const std::string &text, std::int64_t min, std::int64_t max);
/* A decimal number, in thousandths. */
std::uint64_t parse_thousandths(const std::string &name, const std::string &text, std::uint64_t min, std::uint64_t max);

/* "slice=10ms" and so on, for a device; no setting twice. */
/* Of the setting "node": that which the driver says. */
inline constexpr std::uint64_t node_auto = UINT64_MAX;

std::vector<Setting> parse_settings(const std::vector<std::string> &words);
/* "weight=N" or "weight=auto", which is 0. */
std::uint32_t parse_weight(const std::vector<std::string> &words);
/* The same of a cgroup. */
std::uint32_t parse_cgroup_weight(const std::vector<std::string> &words);
/* "share=N". */
std::uint32_t parse_share(const std::vector<std::string> &words);
/* A user's name or number. */
std::uint32_t parse_user(const std::string &text);

/*
 * What a program that the subcommand @command is to start is called with: @words up to the first "--", and @after it.
 */
std::vector<std::string> program_words(const std::string &command, std::vector<std::string> words,
                                       const std::vector<std::string> &after);

} // namespace ptsched

#endif /* PTSCHED_TOOL_UNITS_HPP */
