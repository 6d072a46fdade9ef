/* SPDX-License-Identifier: MIT */
/* The ring of slots by which the kernels of one GPU call the host (arena/call/slots.h). */
#ifndef PTSCHED_ARENA_CALL_LINE_SLOTS_HPP
#define PTSCHED_ARENA_CALL_LINE_SLOTS_HPP

#include <ptsched/arena/call/slots.h>
#include <ptsched/device/allocation.hpp>

namespace ptsched::arena::detail {

class LineSlots {
public:
    /* @slots: a power of two. */
    LineSlots(device::Device &gpu, unsigned slots);

    /* For kernels. */
    const Channel *channel() const { return static_cast<const Channel *>(device::host_pointer(kept_.address())); }

    /*
     * The next call, if there is one: its ticket, and what is before its arguments. By one thread at a time, as the
     * next two.
     */
    bool find(unsigned &ticket, Request &request) const;
    /* Its arguments, if all of them are there. */
    bool read(std::byte *to, unsigned bytes) const;
    /* The call is the caller's, who answers it. */
    void advance() { next_++; }
    /* Any thread. */
    void answer(unsigned ticket, Status status, const std::byte *result, unsigned bytes);

private:
    const pool::Piece *request(unsigned ticket) const;
    bool is_there(const pool::Piece *piece, unsigned ticket, unsigned char *to) const;

    const unsigned slots_;
    const device::Allocation shared_; /* requests, then answers */
    const device::Allocation kept_;   /* by the GPU: the channel, its next ticket, and turns */
    unsigned next_ = 0;               /* ticket */
};

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_LINE_SLOTS_HPP */
