// SPDX-License-Identifier: MIT
#include "tools/ptschedd/attributes.hpp"

#include <algorithm>

namespace ptsched {
namespace {

/* Of the attributes that a request may have; 0: none of those. */
std::size_t size_in_request(std::uint16_t attribute)
{
    switch (attribute) {
    case PTSCHED_A_IDLE_SHARING:
    case PTSCHED_A_MANY:
        return sizeof(std::uint8_t);
    case PTSCHED_A_DEVICE_ID:
    case PTSCHED_A_POLICY:
    case PTSCHED_A_ALPHA:
    case PTSCHED_A_PID:
    case PTSCHED_A_WEIGHT:
    case PTSCHED_A_GROUPING:
    case PTSCHED_A_UID:
    case PTSCHED_A_SHARE:
    case PTSCHED_A_CGROUP_FD:
        return sizeof(std::uint32_t);
    case PTSCHED_A_SLICE_NS:
    case PTSCHED_A_GRACE_NS:
    case PTSCHED_A_DRAIN_NS:
    case PTSCHED_A_INFLIGHT_NS:
    case PTSCHED_A_NODE:
        return sizeof(std::uint64_t);
    default:
        return 0;
    }
}

template <typename T> std::uint64_t load(std::span<const char> bytes)
{
    T value;
    memcpy(&value, bytes.data(), sizeof(value));
    return value;
}

} // namespace

void AttributeWriter::append(const void *data, std::size_t length)
{
    auto bytes = static_cast<const char *>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + length);
    bytes_.resize(NLA_ALIGN(bytes_.size()));
}

void AttributeWriter::put_bytes(std::uint16_t attribute, const void *data, std::size_t length)
{
    nlattr head{.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + length), .nla_type = attribute};
    append(&head, sizeof(head));
    append(data, length);
}

void AttributeWriter::put_string(std::uint16_t attribute, std::string_view text)
{
    std::vector<char> terminated(text.begin(), text.end());
    terminated.push_back('\0');
    put_bytes(attribute, terminated.data(), terminated.size());
}

bool AttributeReader::parse(std::span<const char> bytes)
{
    genlmsghdr header;
    if (bytes.size() < sizeof(header))
        return false;
    memcpy(&header, bytes.data(), sizeof(header));
    if (header.version != PTSCHED_GENL_VERSION || header.reserved)
        return false;
    cmd_ = header.cmd;
    bytes = bytes.subspan(sizeof(header));
    while (!bytes.empty()) {
        nlattr head;
        if (bytes.size() < sizeof(head))
            return false;
        memcpy(&head, bytes.data(), sizeof(head));
        fault_ = head.nla_type;
        std::size_t size = size_in_request(head.nla_type);
        if (!size || head.nla_len != NLA_HDRLEN + size || head.nla_len > bytes.size())
            return false;
        values_[head.nla_type] = bytes.subspan(NLA_HDRLEN, size);
        bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(head.nla_len), bytes.size()));
    }
    fault_ = 0;
    return true;
}

std::optional<std::uint64_t> AttributeReader::get(std::uint16_t attribute) const
{
    std::span<const char> value = values_[attribute];
    switch (value.size()) {
    case sizeof(std::uint8_t):
        return load<std::uint8_t>(value);
    case sizeof(std::uint32_t):
        return load<std::uint32_t>(value);
    case sizeof(std::uint64_t):
        return load<std::uint64_t>(value);
    default:
        return std::nullopt;
    }
}

std::uint16_t AttributeReader::other_than(std::initializer_list<std::uint16_t> known) const
{
    for (std::uint16_t attribute = 0; attribute <= PTSCHED_A_MAX; attribute++)
        if (has(attribute) && std::find(known.begin(), known.end(), attribute) == known.end())
            return attribute;
    return 0;
}

} // namespace ptsched
