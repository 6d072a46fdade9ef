// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/functions.hpp"

#include "libptsched/arena/call/host_functions.hpp"
#include <ptsched/device/allocation.hpp>

#include <algorithm>

namespace ptsched::arena::detail {

namespace {

/* A table's Description, whatever its size; empty: there is none. */
std::vector<std::byte> read_variable(device::Device &gpu, const device::Code &code, const std::string &name)
{
    const auto variable = code.variable(name);
    std::vector<std::byte> content(variable ? variable->bytes : 0);
    if (!content.empty()) {
        const auto queue = gpu.make_queue();
        queue->download(content.data(), variable->address, content.size());
        queue->finish();
    }
    return content;
}

/* As its own kernel says it. */
std::vector<std::byte> ask_kernel(device::Device &gpu, const Functions::Make &make, const std::string &name)
{
    std::unique_ptr<device::Code> code;
    try {
        code = make(gpu, name);
    } catch (const Error &) {
        return {};
    }
    const device::Allocation memory = device::Allocation::pinned(sizeof(Description<pool::most_kinds>));
    device::Address to = memory.address();
    const auto queue = gpu.make_queue();
    queue->run(*code, {{1, 1, 1}, {1, 1, 1}, 0}, {&to});
    queue->finish();
    const auto *begin = static_cast<const std::byte *>(memory.host_address());
    DescriptionHead head;
    std::memcpy(&head, begin, sizeof(head));
    const std::size_t count = std::min(head.count, pool::most_kinds);
    return {begin, begin + sizeof(head) + count * sizeof(FunctionText)};
}

} // namespace

Functions::Functions(device::Device &gpu, const Make &make, const std::string &table)
{
    std::vector<std::byte> content = read_variable(gpu, *make(gpu, table), table + "_names");
    if (content.empty())
        content = ask_kernel(gpu, make, table + "_describe");
    DescriptionHead head;
    if (content.size() < sizeof(head))
        throw Error("calls: the kernel " + table + " comes with no list of functions: put PTSCHED_ARENA_FUNCTIONS(" +
                    table + ", ...) before it, of ptsched/arena/call.cuh");
    std::memcpy(&head, content.data(), sizeof(head));
    if (head.version != description_version || content.size() != sizeof(head) + head.count * sizeof(FunctionText))
        throw Error("calls: the functions of the kernel " + table +
                    " were compiled with another version of ptsched/arena/call.cuh: compile them anew");
    all_.resize(head.count);
    std::memcpy(all_.data(), content.data() + sizeof(head), head.count * sizeof(FunctionText));
    for (std::size_t i = 0; i < all_.size(); i++)
        if (find(all_[i].name) != i)
            throw Error("calls: the kernel " + table + " has two functions of the name '" + all_[i].name + "'");
}

std::size_t Functions::find(const std::string &name) const
{
    const auto found = std::ranges::find_if(all_, [&](const FunctionText &one) { return one.name == name; });
    return static_cast<std::size_t>(found - all_.begin());
}

std::string Functions::list() const
{
    std::string text;
    for (const FunctionText &one : all_)
        text += (text.empty() ? "" : "; ") + describe(one.name, one.signature);
    return text;
}

unsigned Functions::most_bytes() const
{
    unsigned most = 0;
    for (const FunctionText &one : all_)
        most = std::max({most, one.argument_bytes, one.result_bytes});
    return most;
}

bool Functions::operator==(const Functions &other) const
{
    return list() == other.list();
}

} // namespace ptsched::arena::detail
