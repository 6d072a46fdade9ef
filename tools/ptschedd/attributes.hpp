/* SPDX-License-Identifier: MIT */
/* Messages of the generic netlink family, without netlink. */
#ifndef PTSCHEDD_ATTRIBUTES_HPP
#define PTSCHEDD_ATTRIBUTES_HPP

#include <array>
#include <cstdint>
#include <cstring>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/ptsched.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ptsched {

class AttributeWriter {
public:
    explicit AttributeWriter(std::uint8_t cmd)
    {
        genlmsghdr header{.cmd = cmd, .version = PTSCHED_GENL_VERSION, .reserved = 0};
        append(&header, sizeof(header));
    }

    /* The size of the attribute is that of @value's type. */
    template <typename T> void put(std::uint16_t attribute, T value) { put_bytes(attribute, &value, sizeof(value)); }
    void put_string(std::uint16_t attribute, std::string_view text);
    std::span<const char> bytes() const { return bytes_; }

private:
    void put_bytes(std::uint16_t attribute, const void *data, std::size_t length);
    void append(const void *data, std::size_t length);

    std::vector<char> bytes_;
};

/* The attributes of a request. */
class AttributeReader {
public:
    /* False: malformed; fault() is the attribute, if it is one. */
    bool parse(std::span<const char> bytes);
    std::uint8_t cmd() const { return cmd_; }
    std::uint16_t fault() const { return fault_; }

    bool has(std::uint16_t attribute) const { return !values_[attribute].empty(); }
    /* What is not there is nothing; parse() has checked the size. */
    std::optional<std::uint64_t> get(std::uint16_t attribute) const;
    /* An attribute that is there and not among @known, else 0. */
    std::uint16_t other_than(std::initializer_list<std::uint16_t> known) const;

private:
    std::array<std::span<const char>, PTSCHED_A_MAX + 1> values_;
    std::uint8_t cmd_ = 0;
    std::uint16_t fault_ = 0;
};

} // namespace ptsched

#endif
