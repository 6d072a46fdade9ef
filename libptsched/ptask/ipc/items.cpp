// SPDX-License-Identifier: MIT
#include "libptsched/ptask/ipc/items.hpp"

#include "libptsched/ptask/ipc/device_sharing.hpp"

namespace ptsched::ptask {

Packet packet_of(const Item &item)
{
    Packet packet;
    packet.head.flags = (item.end_of_stream ? Packet::end_of_stream : 0u) | (item.error ? Packet::has_error : 0u) |
                        (item.block ? Packet::has_block : 0u);
    if (item.error)
        packet.text = *item.error;
    return packet;
}

void pack_memory(Datablock &block, Packet &packet)
{
    packet.head.bytes = block.bytes();
    packet.memory = shared_copy(block).seal();
}

Item item_of(Packet &packet)
{
    const std::uint32_t flags = packet.head.flags;
    Item item;
    if (flags & Packet::has_block)
        item.block = flags & Packet::is_lent ? borrow(packet) : map_shared(packet.memory, packet.head.bytes);
    item.end_of_stream = flags & Packet::end_of_stream;
    if (flags & Packet::has_error)
        item.error = std::make_shared<const std::string>(packet.text);
    return item;
}

} // namespace ptsched::ptask
