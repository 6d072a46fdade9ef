// SPDX-License-Identifier: MIT
#include "remote.hpp"

#include "worker.hpp"

#include <cerrno>
#include <poll.h>

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

Remote::Remote(const std::string &path, const std::string &port, Direction direction) : socket_(socket_at(path, false))
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
    std::lock_guard lock(mutex_);
    request.head.timeout = timeout ? std::max<std::int64_t>(timeout->count(), 0) : -1;
    while (!send_packet(socket_.get(), request))
        await(socket_.get(), POLLOUT);
    for (;;) {
        await(socket_.get(), POLLIN);
        std::optional<Packet> answer = receive_packet(socket_.get());
        if (!answer)
            continue;
        if (answer->head.flags & Packet::refused)
            throw Error(answer->text);
        return std::move(*answer);
    }
}

bool Remote::push(SharedMemory &&block, Timeout timeout)
{
    Packet packet;
    packet.head.kind = Packet::request;
    packet.head.flags = Packet::has_block;
    packet.head.bytes = block.bytes();
    packet.memory = std::move(block).seal();
    return call(std::move(packet), timeout).head.flags & Packet::done;
}

bool Remote::end_stream(Timeout timeout)
{
    Packet packet;
    packet.head.kind = Packet::request;
    packet.head.flags = Packet::end_of_stream;
    return call(std::move(packet), timeout).head.flags & Packet::done;
}

std::optional<Item> Remote::take(Timeout timeout)
{
    Packet request;
    request.head.kind = Packet::request;
    const Packet answer = call(std::move(request), timeout);
    const std::uint32_t flags = answer.head.flags;
    if (!(flags & Packet::done))
        return {};
    Item item;
    if (flags & Packet::has_block)
        item.block = map_shared(answer.memory, answer.head.bytes);
    item.end_of_stream = flags & Packet::end_of_stream;
    if (flags & Packet::has_error)
        item.error = std::make_shared<const std::string>(answer.text);
    return item;
}

DatablockPtr Remote::pull(Timeout timeout)
{
    std::optional<Item> item = take(timeout);
    if (item && item->error)
        throw Error(*item->error);
    return item ? item->block : nullptr;
}

} // namespace ptsched::ptask
