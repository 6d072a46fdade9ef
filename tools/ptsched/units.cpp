// SPDX-License-Identifier: MIT
#include "tools/ptsched/units.hpp"

#include "tools/ptsched/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace ptsched {

namespace {

/* A decimal number times @scale, exactly; nothing if it is none, or too long to be meant. */
std::optional<std::uint64_t> parse_scaled(const std::string &text, std::uint64_t scale)
{
    std::size_t point = std::min(text.find('.'), text.size());
    std::string whole = text.substr(0, point);
    std::string fraction = point < text.size() ? text.substr(point + 1) : "";
    auto digits = [](const std::string &part) {
        return std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    };

    if (whole.empty() || whole.size() > 9 || !digits(whole) || !digits(fraction))
        return std::nullopt;
    if (point < text.size() && fraction.empty())
        return std::nullopt;

    std::uint64_t value = std::stoull(whole) * scale;
    for (char digit : fraction) {
        if (scale % 10) {
            if (digit != '0')
                return std::nullopt;
            continue;
        }
        scale /= 10;
        value += static_cast<std::uint64_t>(digit - '0') * scale;
    }
    return value;
}

[[noreturn]] void refuse(const std::string &name, const std::string &text, const std::string &right)
{
    throw Error(name + "=" + text + ": " + name + " must be " + right, 2);
}

struct Unit {
    const char *name;
    std::uint64_t ns;
};

/* Longer names first: "ms" ends with "s". */
constexpr std::array units = {Unit{"ns", 1}, Unit{"us", 1000}, Unit{"ms", 1000000}, Unit{"s", 1000000000}};

enum class Kind { Policy, Grouping, Switch, Duration, Thousandths, Node };

struct Known {
    const char *name;
    int attribute;
    Kind kind;
    std::uint64_t min;
    std::uint64_t max;
};

constexpr std::array known_settings = {
    Known{"policy", PTSCHED_A_POLICY, Kind::Policy, 0, PTSCHED_POLICY_NONE},
    Known{"grouping", PTSCHED_A_GROUPING, Kind::Grouping, 0, PTSCHED_GROUPING_CGROUP},
    Known{"idle-sharing", PTSCHED_A_IDLE_SHARING, Kind::Switch, 0, 1},
    Known{"many", PTSCHED_A_MANY, Kind::Switch, 0, 1},
    Known{"slice", PTSCHED_A_SLICE_NS, Kind::Duration, PTSCHED_SLICE_MIN_NS, PTSCHED_SLICE_MAX_NS},
    Known{"grace", PTSCHED_A_GRACE_NS, Kind::Duration, 0, PTSCHED_GRACE_MAX_NS},
    Known{"drain", PTSCHED_A_DRAIN_NS, Kind::Duration, PTSCHED_DRAIN_MIN_NS, PTSCHED_DRAIN_MAX_NS},
    Known{"inflight", PTSCHED_A_INFLIGHT_NS, Kind::Duration, PTSCHED_INFLIGHT_MIN_NS, PTSCHED_INFLIGHT_MAX_NS},
    Known{"alpha", PTSCHED_A_ALPHA, Kind::Thousandths, 1, PTSCHED_ALPHA_MAX},
    Known{"node", PTSCHED_A_NODE, Kind::Node, 0, UINT64_MAX},
};

std::uint64_t parse_policy(const std::string &text)
{
    for (std::uint32_t policy = 0; policy <= PTSCHED_POLICY_NONE; policy++)
        if (text == policy_name(policy))
            return policy;
    refuse("policy", text, "weighted, literal or none");
}

std::uint64_t parse_grouping(const std::string &text)
{
    for (std::uint32_t grouping = 0; grouping <= PTSCHED_GROUPING_CGROUP; grouping++)
        if (text == grouping_name(grouping))
            return grouping;
    refuse("grouping", text, "process, user or cgroup");
}

std::uint64_t parse_switch(const std::string &name, const std::string &text)
{
    if (text != "on" && text != "off")
        refuse(name, text, "on or off");
    return text == "on";
}

std::uint64_t parse_node(const std::string &text)
{
    struct stat status;

    if (text == "none")
        return 0;
    if (text == "auto")
        return node_auto;
    if (stat(text.c_str(), &status) || !S_ISCHR(status.st_mode))
        refuse("node", text, "a character device, as in /dev/nvidia0; or auto, or none");
    return PTSCHED_NODE(major(status.st_rdev), minor(status.st_rdev));
}

std::uint64_t parse_value(const Known &known, const std::string &text)
{
    switch (known.kind) {
    case Kind::Policy:
        return parse_policy(text);
    case Kind::Grouping:
        return parse_grouping(text);
    case Kind::Switch:
        return parse_switch(known.name, text);
    case Kind::Duration:
        return parse_duration(known.name, text, known.min, known.max);
    case Kind::Thousandths:
        return parse_thousandths(known.name, text, known.min, known.max);
    case Kind::Node:
        return parse_node(text);
    }
    throw Error(std::string(known.name) + " cannot be set");
}

/* "name=value", split. */
std::pair<std::string, std::string> split(const std::string &word)
{
    std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
        throw Error("\"" + word + "\" is not of the form SETTING=VALUE, as in slice=10ms", 2);
    return {word.substr(0, equals), word.substr(equals + 1)};
}

/* Of the one setting that @whose may have. @expected: what is said where there are others than one. */
std::string only_value(const std::vector<std::string> &words, const std::string &known, const std::string &expected,
                       const std::string &whose)
{
    if (words.size() != 1)
        throw Error(expected, 2);
    auto [name, text] = split(words[0]);
    if (name != known)
        throw Error("unknown setting \"" + name + "\" in " + words[0] + "; " + whose + " has " + known, 2);
    return text;
}

/* The only setting of what @option names: up to @max, or auto, which is 0. */
std::uint32_t only_weight(const std::vector<std::string> &words, const std::string &option, const std::string &whose,
                          std::int64_t max)
{
    const std::string text = only_value(
        words, "weight", "with " + option + ", exactly one setting is expected: weight=N or weight=auto", whose);
    if (text == "auto")
        return 0;
    try {
        return static_cast<std::uint32_t>(parse_integer("weight", text, 1, max));
    } catch (const Error &error) {
        throw Error(std::string(error.what()) + ", or auto", 2);
    }
}

} // namespace

std::uint64_t parse_duration(const std::string &name, const std::string &text, std::uint64_t min, std::uint64_t max)
{
    std::string range = "from " + format_duration(min) + " to " + format_duration(max);
    std::optional<std::uint64_t> value;

    if (text == "0")
        value = 0;
    for (const Unit &unit : units) {
        if (!text.ends_with(unit.name))
            continue;
        value = parse_scaled(text.substr(0, text.size() - std::string(unit.name).size()), unit.ns);
        break;
    }
    if (!value)
        refuse(name, text, "a time with its unit (ns, us, ms or s), as in 10ms, " + range);
    if (*value < min || *value > max)
        refuse(name, text, range);
    return *value;
}

std::int64_t parse_integer(const std::string &name, const std::string &text, std::int64_t min, std::int64_t max)
{
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < min || value > max)
        refuse(name, text, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
    return value;
}

std::uint64_t parse_thousandths(const std::string &name, const std::string &text, std::uint64_t min, std::uint64_t max)
{
    std::optional<std::uint64_t> value = parse_scaled(text, 1000);

    if (!value || *value < min || *value > max)
        refuse(name, text,
               "a number from " + format_thousandths(min) + " to " + format_thousandths(max) +
                   " with at most three decimals");
    return *value;
}

std::vector<Setting> parse_settings(const std::vector<std::string> &words)
{
    std::vector<Setting> settings;

    for (const std::string &word : words) {
        auto [name, text] = split(word);
        auto known = std::find_if(known_settings.begin(), known_settings.end(),
                                  [&name = name](const Known &entry) { return name == entry.name; });
        if (known == known_settings.end()) {
            std::string names;
            for (const Known &entry : known_settings)
                names += std::string(names.empty() ? "" : ", ") + entry.name;
            throw Error("unknown setting \"" + name + "\" in " + word + "; a device has " + names +
                            (name == "weight"  ? "; weight is a process's or a cgroup's: give --pid or --cgroup"
                             : name == "share" ? "; share is a user's: give --user"
                                               : ""),
                        2);
        }
        bool twice = std::any_of(settings.begin(), settings.end(),
                                 [&](const Setting &setting) { return setting.attribute == known->attribute; });
        if (twice)
            throw Error(name + " is set twice", 2);
        settings.push_back({known->attribute, parse_value(*known, text)});
    }
    return settings;
}

std::uint32_t parse_user(const std::string &text)
{
    if (const passwd *found = getpwnam(text.c_str()))
        return found->pw_uid;
    std::uint32_t uid = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || uid == static_cast<uid_t>(-1))
        throw Error("--user " + text + ": no user of this machine has that name, and it is no number of one", 2);
    return uid;
}

std::uint32_t parse_share(const std::vector<std::string> &words)
{
    const std::string text =
        only_value(words, "share", "with --user, exactly one setting is expected: share=N", "a user");
    return static_cast<std::uint32_t>(parse_integer("share", text, 1, PTSCHED_SHARE_MAX));
}

std::uint32_t parse_weight(const std::vector<std::string> &words)
{
    return only_weight(words, "--pid", "a process", PTSCHED_WEIGHT_MAX);
}

std::uint32_t parse_cgroup_weight(const std::vector<std::string> &words)
{
    return only_weight(words, "--cgroup", "a cgroup", PTSCHED_SHARE_MAX);
}

std::vector<std::string> program_words(const std::string &command, std::vector<std::string> words,
                                       const std::vector<std::string> &after)
{
    if (!words.empty() && words[0].starts_with('-'))
        throw Error(command + " has no option " + words[0] + "; options of the program go after its name", 2);
    if (!words.empty() && !after.empty())
        words.emplace_back("--");
    words.insert(words.end(), after.begin(), after.end());
    return words;
}

std::string setting_name(std::uint32_t attribute)
{
    if (attribute == PTSCHED_A_WEIGHT)
        return "weight";
    if (attribute == PTSCHED_A_SHARE)
        return "share";
    if (attribute == PTSCHED_A_UID)
        return "uid";
    if (attribute == PTSCHED_A_PID)
        return "pid";
    if (attribute == PTSCHED_A_CGROUP_FD)
        return "cgroup";
    if (attribute == PTSCHED_A_DEVICE_ID)
        return "device";
    for (const Known &known : known_settings)
        if (known.attribute == static_cast<int>(attribute))
            return known.name;
    return {};
}

} // namespace ptsched
