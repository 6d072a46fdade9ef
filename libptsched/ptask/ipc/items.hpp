/* SPDX-License-Identifier: MIT */
/* What passes through channels, as packets between processes. */
#ifndef PTSCHED_PTASK_IPC_ITEMS_HPP
#define PTSCHED_PTASK_IPC_ITEMS_HPP

#include "libptsched/ptask/ipc/packet.hpp"
#include <ptsched/ptask/graph.hpp>

namespace ptsched::ptask {

/* With the signals of an item, and whether it has a block, which is to be packed or lent. */
Packet packet_of(const Item &item);
/* The block's content, copied from where it is. */
void pack_memory(Datablock &block, Packet &packet);
/* What a packet brings. Throws NotHere for a block that is lent and cannot be used here. */
Item item_of(Packet &packet);

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_IPC_ITEMS_HPP */
