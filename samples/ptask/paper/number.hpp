/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PAPER_NUMBER_HPP
#define PTSCHED_PAPER_NUMBER_HPP

#include <charconv>
#include <optional>
#include <string_view>

namespace ptsched::paper {

/* A decimal number from @least to @most, or nothing. */
inline std::optional<unsigned> number_of(std::string_view text, unsigned least, unsigned most)
{
    unsigned value = 0;
    const char *end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end || value < least || value > most)
        return {};
    return value;
}

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_NUMBER_HPP */
