// SPDX-License-Identifier: MIT
#include "remote.hpp"

#include "loan.hpp"
#include "worker.hpp"

#include <cerrno>
#include <poll.h>
#include <utility>

namespace ptsched::ptask {

namespace {

void await(int socket, short events)
{
    pollfd waited = {socket, events, 0};
    while (poll(&waited, 1, -1) < 0)
        if (errno != EINTR)
            throw Error(system_error_text("poll"));
}

} // namespace

Remote::Remote(const std::string &path, const std::string &port, Direction direction, Place place)
    : socket_(socket_at(path, false)), lending_(direction == to_push || place == where_it_is)
{
    Packet hello;
    hello.head.kind = direction == to_push ? Packet::hello_input : Packet::hello_output;
    hello.text = port;
    const Packet::Head head = call(std::move(hello), {}).head;
    form_ = {{head.dimensions[0], head.dimensions[1], head.dimensions[2]}, head.stride, Layout(head.layout)};
}

/* Who serves keeps the timeout. */
Packet Remote::call(Packet &&request, Timeout timeout)
{
    request.head.timeout = timeout ? std::max<std::int64_t>(timeout->count(), 0) : -1;
    while (!send_packet(socket_.get(), request))
        await(socket_.get(), POLLOUT);
    for (;;) {
        await(socket_.get(), POLLIN);
        std::optional<Packet> answer = receive_packet(socket_.get());
        if (!answer)
            continue;
        if ((answer->head.flags & Packet::refused) && !(answer->head.flags & Packet::not_here))
            throw Error(answer->text);
        return std::move(*answer);
    }
}

bool Remote::push_memory(SharedMemory &&block, Timeout timeout)
{
    Packet packet;
    packet.head.kind = Packet::request;
    packet.head.flags = Packet::has_block;
    packet.head.bytes = block.bytes();
    packet.memory = std::move(block).seal();
    return call(std::move(packet), timeout).head.flags & Packet::done;
}

bool Remote::push(SharedMemory &&block, Timeout timeout)
{
    std::lock_guard lock(mutex_);
    return push_memory(std::move(block), timeout);
}

bool Remote::push(const DatablockPtr &block, Timeout timeout)
{
    std::lock_guard lock(mutex_);
    Packet packet;
    packet.head.kind = Packet::request;
    packet.head.flags = Packet::has_block;
    if (lending_ && lend(block, packet)) {
        const std::uint32_t flags = call(std::move(packet), timeout).head.flags;
        if (!(flags & Packet::not_here))
            return flags & Packet::done;
        lending_ = false;
    }
    return push_memory(shared_copy(*block), timeout);
}

bool Remote::end_stream(Timeout timeout)
{
    std::lock_guard lock(mutex_);
    Packet packet;
    packet.head.kind = Packet::request;
    packet.head.flags = Packet::end_of_stream;
    return call(std::move(packet), timeout).head.flags & Packet::done;
}

/* What is lent and cannot be used here comes as memory; the answer has it until then. */
DatablockPtr Remote::block_in(Packet &answer)
{
    if (!(answer.head.flags & Packet::is_lent))
        return map_shared(answer.memory, answer.head.bytes);
    try {
        return borrow(answer);
    } catch (const NotHere &) {
        lending_ = false;
    }
    Packet request;
    request.head.kind = Packet::fetch;
    const Packet fetched = call(std::move(request), {});
    return map_shared(fetched.memory, fetched.head.bytes);
}

std::optional<Item> Remote::next(Timeout timeout)
{
    if (std::exchange(ended_, false))
        return Item{nullptr, true};
    Packet request;
    request.head.kind = Packet::request;
    request.head.flags = lending_ ? Packet::may_lend : 0u;
    Packet answer = call(std::move(request), timeout);
    const std::uint32_t flags = answer.head.flags;
    if (!(flags & Packet::done))
        return {};
    Item item;
    if (flags & Packet::has_block)
        item.block = block_in(answer);
    item.end_of_stream = flags & Packet::end_of_stream;
    if (flags & Packet::has_error)
        item.error = std::make_shared<const std::string>(answer.text);
    return item;
}

std::optional<Item> Remote::take(Timeout timeout)
{
    std::lock_guard lock(mutex_);
    return next(timeout);
}

DatablockPtr Remote::pull(Timeout timeout)
{
    std::optional<Item> item;
    {
        std::lock_guard lock(mutex_);
        item = next(timeout);
        ended_ = item && item->has_more_than_an_end();
    }
    if (item && item->error)
        throw Error(*item->error);
    return item ? item->block : nullptr;
}

} // namespace ptsched::ptask
