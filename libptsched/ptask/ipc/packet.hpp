/* SPDX-License-Identifier: MIT */
/* What passes between a graph's process and another over a socket: memory goes as a descriptor. */
#ifndef PTSCHED_PTASK_IPC_PACKET_HPP
#define PTSCHED_PTASK_IPC_PACKET_HPP

#include <ptsched/ptask/shared_memory.hpp>

#include <optional>

namespace ptsched::ptask {

/* A datablock in memory that was passed, for reading. Throws Error unless it has this size and content for good. */
DatablockPtr map_shared(const UniqueFd &memory, std::size_t bytes);

struct Packet {
    /* What a connection begins with, and what follows in turn. */
    enum Kind : std::uint32_t {
        hello_input,
        hello_output,
        request,
        answer,
        fetch /* what was lent last, as memory */
    };
    enum Flags : std::uint32_t {
        done = 1,
        has_block = 2,
        end_of_stream = 4,
        has_error = 8,
        refused = 16,
        is_lent = 32,   /* the block is on a GPU, see device_sharing.hpp */
        may_lend = 64,  /* so may be what is asked for */
        not_here = 128, /* refused because what is lent cannot be used there: memory will do */
    };
    struct Head {
        std::uint32_t magic, kind, flags, layout;
        std::int64_t timeout; /* in ns; negative: for ever */
        std::uint64_t bytes;
        std::uint64_t dimensions[3], stride;
        char gpu[32]; /* its address on the bus */
        device::ShareHandle handle;
    };

    Head head = {};
    std::string text; /* of an error, or a port's name */
    UniqueFd memory;  /* or that of a loan: who has it has the block */
};

/* For a socket that does not block. False where that would; throws Error if the other end is gone. */
bool send_packet(int socket, const Packet &packet);
/* The other end is gone, and has not read what was sent to it. */
class Reset : public Error {
public:
    using Error::Error;
};
/* This process has as many descriptors as it may. */
class NoDescriptor : public Error {
public:
    using Error::Error;
};
/*
 * The same; nothing where nothing is there. Throws Error also for what is no packet, and NoDescriptor if there is none
 * for what comes with it: then it is still there.
 */
std::optional<Packet> receive_packet(int socket);
/* Of a server or connected to one; does not block. None where so many wait for a server that it takes no more yet. */
UniqueFd socket_at(const std::string &path, bool listening);

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_IPC_PACKET_HPP */
