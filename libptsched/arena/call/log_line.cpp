// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/log_line.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace ptsched::arena::detail {

namespace {

constexpr char not_known[] = "(?)";
/* Wider than that nobody means it. */
constexpr std::size_t most_digits = 2;

/* A conversion after its %: flags, width and precision, and what comes instead of how long it is. */
struct Conversion {
    std::string before;
    char letter = 0;
};

std::size_t digits(std::string_view text, std::size_t at)
{
    const std::size_t end = text.find_first_not_of("0123456789", at);
    return (end == std::string_view::npos ? text.size() : end) - at;
}

/* Nothing if it is none; moves @at behind it. */
Conversion parse(std::string_view text, std::size_t &at)
{
    Conversion conversion;
    const auto take = [&](std::size_t count) {
        conversion.before += text.substr(at, count);
        at += count;
    };
    const std::size_t flags = text.find_first_not_of("-+ #0", at);
    if (flags == std::string_view::npos)
        return {};
    take(flags - at);
    std::size_t width = digits(text, at), precision = 0;
    take(width);
    if (at < text.size() && text[at] == '.') {
        take(1);
        precision = digits(text, at);
        take(precision);
    }
    at = std::min(text.find_first_not_of("hlqjzt", at), text.size());
    if (at == text.size() || width > most_digits || precision > most_digits)
        return {};
    conversion.letter = text[at++];
    return conversion;
}

template <typename Value> std::string print(const Conversion &conversion, const char *length, Value value)
{
    char text[512];
    const std::string format = "%" + conversion.before + length + conversion.letter;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int count = std::snprintf(text, sizeof(text), format.c_str(), value);
#pragma GCC diagnostic pop
    return count < 0 ? not_known : text;
}

std::string print(const Conversion &conversion, LogLine::Kind kind, unsigned long long value)
{
    const auto is_one_of = [&](const char *letters) {
        return conversion.letter && std::strchr(letters, conversion.letter);
    };
    if (kind == LogLine::real && is_one_of("fFeEgGaA")) {
        double number;
        std::memcpy(&number, &value, sizeof(number));
        return print(conversion, "", number);
    }
    if (kind == LogLine::address && is_one_of("p"))
        return print(conversion, "", reinterpret_cast<void *>(value));
    if ((kind == LogLine::whole || kind == LogLine::natural) && is_one_of("diuxXo"))
        return print(conversion, "ll", value);
    if ((kind == LogLine::whole || kind == LogLine::natural) && is_one_of("c"))
        return print(conversion, "", static_cast<int>(value));
    return not_known;
}

} // namespace

std::string format(const LogLine &line)
{
    const std::string_view text(line.format, strnlen(line.format, sizeof(line.format)));
    const unsigned count = std::min(line.count, most_values);
    std::string result;
    unsigned value = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t percent = std::min(text.find('%', at), text.size());
        result += text.substr(at, percent - at);
        at = percent + 1;
        if (at < text.size() && text[at] == '%') {
            result += '%';
            at++;
        } else if (percent < text.size()) {
            const Conversion conversion = parse(text, at);
            result += value < count ? print(conversion, line.kinds[value], line.values[value]) : not_known;
            value++;
        }
    }
    return result;
}

} // namespace ptsched::arena::detail
