// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/functions.hpp"

#include "libptsched/arena/call/host_functions.hpp"

#include <algorithm>

namespace ptsched::arena::detail {

namespace {

void read(device::Device &gpu, device::Address from, void *to, std::size_t bytes)
{
    const auto queue = gpu.make_queue();
    queue->download(to, from, bytes);
    queue->finish();
}

} // namespace

Functions::Functions(device::Device &gpu, const device::Code &code, const std::string &table)
{
    const auto variable = code.variable(table + "_names");
    if (!variable || variable->bytes < sizeof(DescriptionHead))
        throw Error("calls: the kernel " + table + " comes with no list of functions: put PTSCHED_ARENA_FUNCTIONS(" +
                    table + ", ...) before it, of ptsched/arena/call.cuh");
    DescriptionHead head;
    read(gpu, variable->address, &head, sizeof(head));
    if (head.version != description_version || variable->bytes != sizeof(head) + head.count * sizeof(FunctionText))
        throw Error("calls: the functions of the kernel " + table +
                    " were compiled with another version of ptsched/arena/call.cuh: compile them anew");
    all_.resize(head.count);
    read(gpu, variable->address + sizeof(head), all_.data(), head.count * sizeof(FunctionText));
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
