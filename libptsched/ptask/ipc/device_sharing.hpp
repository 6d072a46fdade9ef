/* SPDX-License-Identifier: MIT */
/*
 * Datablocks on a GPU for other processes that use the same one: a handle for the memory goes, and the end of a pipe.
 * Who has lent a block keeps it until nobody has that end any more, whether he was done or died.
 */
#ifndef PTSCHED_PTASK_IPC_DEVICE_SHARING_HPP
#define PTSCHED_PTASK_IPC_DEVICE_SHARING_HPP

#include "libptsched/ptask/ipc/packet.hpp"

namespace ptsched::ptask {

/* What is lent cannot be used in this process. */
class NotHere : public Error {
public:
    using Error::Error;
};

/*
 * Makes a packet that lends the block; false if it cannot be lent, and the packet is as before. Blocks until the
 * content is there; throws Error if what produces it fails.
 */
bool lend(const DatablockPtr &block, Packet &packet);
/* What a packet lends, for reading; gives it back when the datablock goes. Throws NotHere with the reason. */
DatablockPtr borrow(Packet &packet);
/* How many blocks other processes have from this one. */
std::size_t count_lent();

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_IPC_DEVICE_SHARING_HPP */
