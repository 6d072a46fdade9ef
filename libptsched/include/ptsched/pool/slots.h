/* SPDX-License-Identifier: MIT */
/*
 * The task slots, by which a pool's thread on the host and the blocks of its kernel hand each other tasks: what CAGTP
 * (section 3.2.3) has in page-locked memory. Each block has a ring of them. Compiled by the host's compiler, nvcc and
 * NVRTC.
 *
 * Both sides write in pieces of 16 bytes, three words of the task and a tag. A piece is read and written whole (on x86
 * by an aligned access, on the GPU as a .b128), so that a tag says of the words beside it what they are, and no order
 * between pieces is needed: whoever finds the tag he expects in all pieces of a slot has the task, in one trip across
 * the bus. The host writes the pieces of @tasks and reads those of @results, the block the other way round.
 *
 *	IDLE		neither has the tag of the slot's next number
 *	READY		the task's pieces have it, the result's not yet
 *	FINISHED	the result's pieces have it, too; the host takes it and the slot is IDLE
 *	EXIT		said once for all slots, by notices: what is READY then stays so for the kernel's next run
 */
#ifndef PTSCHED_POOL_SLOTS_H
#define PTSCHED_POOL_SLOTS_H

#ifdef __CUDACC__
#define PTSCHED_POOL_BOTH __host__ __device__
#else
#define PTSCHED_POOL_BOTH
#endif

namespace ptsched::pool {

struct alignas(16) Piece {
    unsigned int words[3];
    unsigned int tag;
};

constexpr unsigned int bytes_of_piece = sizeof(Piece::words);
constexpr unsigned int fewest_bytes = 16, most_bytes = 256;
constexpr unsigned int most_kinds = 256;
constexpr unsigned int most_depth = 64;

PTSCHED_POOL_BOTH constexpr unsigned int pieces_of(unsigned long long bytes)
{
    return static_cast<unsigned int>((bytes + bytes_of_piece - 1) / bytes_of_piece);
}

/* A block's tasks have numbers, from 1 on; the tag has the lower 24 bits. */
PTSCHED_POOL_BOTH constexpr unsigned int make_tag(unsigned int number, unsigned int kind)
{
    return number << 8 | kind;
}

PTSCHED_POOL_BOTH constexpr unsigned int kind_of(unsigned int tag)
{
    return tag & 0xff;
}

PTSCHED_POOL_BOTH constexpr bool is_of(unsigned int tag, unsigned int number)
{
    return tag >> 8 == (number & 0xffffff);
}

/*
 * What the host tells a block, read whole. Each has its own, on a line that no other reads: of the host's memory, a GPU
 * serves reads of one line one after another, at a trip across the bus each.
 */
struct alignas(128) Notice {
    unsigned int leaves; /* the run that is to leave the device */
    unsigned int unused[3];
};

/* Rings once for each block that has been given something while it had nothing. In one word. */
struct Bell {
    unsigned int rings;
    unsigned int called; /* the block of the last ring, from 1 on; 0: all */
};

PTSCHED_POOL_BOTH constexpr unsigned long long make_word(const Bell &bell)
{
    return static_cast<unsigned long long>(bell.called) << 32 | bell.rings;
}

/*
 * In the device's memory, 0 when a run begins: idle blocks look here instead of across the bus. One of them, the
 * porter, listens to the bell for all.
 */
struct Lodge {
    unsigned long long heard; /* the bell as the porter has last heard it */
    unsigned int porter;      /* the block that it is, from 1 on; 0: none */
};

/* The parameter of a pool's kernel. All of it but the lodge is the host's memory. */
struct Slots {
    const Piece *tasks; /* [block][slot][piece] */
    Piece *results;
    const Notice *notices;          /* [block] */
    const unsigned long long *bell; /* a Bell's word */
    unsigned int *present;          /* [block]: the run that it has begun */
    const unsigned int *first;      /* [block]: the number of its next task */
    Lodge *lodge;
    unsigned int depth;  /* slots of a block: a power of two */
    unsigned int pieces; /* of a slot */
    unsigned int run;    /* from 1 on */
};

} // namespace ptsched::pool

#undef PTSCHED_POOL_BOTH

#endif /* PTSCHED_POOL_SLOTS_H */
