// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/signature_text.hpp"

#include <algorithm>

namespace ptsched::arena::detail {

namespace {

struct Plain {
    std::string_view name;
    unsigned bytes;
};

constexpr Plain plain[] = {
    {"bool", 1}, {"char", 1},         {"signed char", 1}, {"unsigned char", 1}, {"short", 2}, {"unsigned short", 2},
    {"int", 4},  {"unsigned int", 4}, {"long", 8},        {"unsigned long", 8}, {"float", 4}, {"double", 8},
};

bool is_pointer_text(std::string_view type)
{
    return type.ends_with(" *");
}

[[noreturn]] void refuse(const std::string &text, const std::string &why)
{
    throw Error("calls: '" + text + "' is no signature: " + why + ". One is \"double (const double *, unsigned int)\"");
}

unsigned bytes_of(const std::string &text, std::string_view type)
{
    if (is_pointer_text(type))
        return sizeof(void *);
    if (type.starts_with("const "))
        type.remove_prefix(6);
    if (type.starts_with("RemotePointer<"))
        return sizeof(RemotePointer<void()>);
    const auto found = std::ranges::find(plain, type, &Plain::name);
    if (found == std::end(plain))
        refuse(text, "'" + std::string(type) + "' is no type whose size is known; structs are passed by pointers");
    return found->bytes;
}

/* Types between commas that are not a RemotePointer's. */
std::vector<std::string_view> split(std::string_view list)
{
    std::vector<std::string_view> types;
    std::size_t depth = 0, begin = 0;
    for (std::size_t at = 0; at <= list.size(); at++) {
        if (at == list.size() || (!depth && list[at] == ',')) {
            types.push_back(list.substr(begin, at - begin));
            begin = std::min(at + 2, list.size());
        } else if (list[at] == '(' || list[at] == '<') {
            depth++;
        } else if (list[at] == ')' || list[at] == '>') {
            depth -= depth > 0;
        }
    }
    return types;
}

} // namespace

ParsedSignature::ParsedSignature(const std::string &text) : text_(text)
{
    const std::string_view all = text_;
    const std::size_t begin = all.find(" (");
    if (begin == std::string_view::npos || !all.ends_with(')'))
        refuse(text, "arguments are in brackets, with a blank before them");
    const std::string_view result = all.substr(0, begin), list = all.substr(begin + 2, all.size() - begin - 3);
    if (result != "void")
        result_bytes_ = bytes_of(text, result);
    returns_pointer_ = is_pointer_text(result);
    unsigned number = 0;
    for (const std::string_view type : list.empty() ? std::vector<std::string_view>() : split(list)) {
        const unsigned bytes = bytes_of(text, type);
        const unsigned offset = align_up(argument_bytes_, bytes);
        arguments_.push_back({offset, bytes});
        argument_bytes_ = offset + bytes;
        number++;
        if (is_pointer_text(type))
            pointers_.push_back({offset, number});
    }
}

} // namespace ptsched::arena::detail
