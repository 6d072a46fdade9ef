/* SPDX-License-Identifier: MIT */
/**
 * @file
 * libptsched-arena: memory in which a pointer means the same for host and GPUs,
 * handed over by ownership, or by release and acquire. For C; arena.hpp has the
 * same for C++, and says more.
 *
 * Functions return 0 or a negative errno, those that return a pointer NULL;
 * ptsched_arena_error_text() says in words what was wrong. -EINVAL: what is asked
 * for is not possible, or two sides have written the same word; -EIO: a device has
 * failed; -ENOMEM. Any thread may call all of it, but for what ends a window or an
 * arena. Calls about ownership, acquire and release block for as long as copies
 * take.
 *
 * Sides are PTSCHED_ARENA_HOST, and 0, 1 ... for the window's GPUs.
 *
 * Structures begin with their size, which is sizeof. Later versions may add
 * members at the end: what a program does not know of is taken for 0, and
 * -EINVAL is for members that the library does not know of, unless they are 0.
 */
#ifndef PTSCHED_ARENA_H
#define PTSCHED_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ptsched_arena_window;
struct ptsched_arena;

#define PTSCHED_ARENA_HOST (-1)
/** No side: an arena without an owner. */
#define PTSCHED_ARENA_SHARED (-2)

/** What went wrong in the last call of this thread that returned an error; never NULL, and valid until the next one. */
const char *ptsched_arena_error_text(void);

enum ptsched_arena_memory {
    PTSCHED_ARENA_COPIES = 0,  /* two memories at one address */
    PTSCHED_ARENA_MANAGED = 1, /* one, which the driver moves to who touches it */
};

enum ptsched_arena_attach {
    PTSCHED_ARENA_ALONE = 0,
    PTSCHED_ARENA_ATTACH = 1,      /* copies in turns that ptsched gives out, where it runs */
    PTSCHED_ARENA_MUST_ATTACH = 2, /* or else -EINVAL */
};

/** What is 0 is as it says here. */
struct ptsched_arena_options {
    size_t size;                 /* sizeof(struct ptsched_arena_options) */
    size_t bytes;                /* of addresses; 64 GiB, or 4 GiB of managed memory, or where there is no GPU */
    const unsigned int *devices; /* GPUs, by their numbers in the CUDA driver's order; NULL: all */
    size_t device_count;
    unsigned int memory;  /* an enum ptsched_arena_memory */
    unsigned int attach;  /* an enum ptsched_arena_attach */
    unsigned int checked; /* 1: a word that both sides wrote is an error */
};

/** @options: NULL is as all 0. */
int ptsched_arena_open_window(const struct ptsched_arena_options *options, struct ptsched_arena_window **window);

/** NULL is allowed. Its memory is there as long as one of its arenas is. */
void ptsched_arena_close_window(struct ptsched_arena_window *window);

/** Whether an address is the window's. */
int ptsched_arena_contains(const struct ptsched_arena_window *window, const void *address);

/**
 * @owner: a side, or PTSCHED_ARENA_SHARED. @expected_bytes: so many are side by side; 0: not known. @name: for errors;
 * NULL: a number.
 */
int ptsched_arena_create(struct ptsched_arena_window *window, int owner, size_t expected_bytes, const char *name,
                         struct ptsched_arena **arena);

/** With all its blocks, which nobody uses any more. NULL is allowed. */
void ptsched_arena_destroy(struct ptsched_arena *arena);

/** At a multiple of 16, whoever owns the arena; its content is not defined. */
void *ptsched_arena_malloc(struct ptsched_arena *arena, size_t bytes);

/** @alignment: a power of two. */
void *ptsched_arena_aligned_alloc(struct ptsched_arena *arena, size_t alignment, size_t bytes);

/** By any thread. NULL is allowed. -EINVAL, and nothing done, if it is no block of the arena, or free. */
int ptsched_arena_free(struct ptsched_arena *arena, void *block);

/** Bytes that kernels have written, or are going to. */
struct ptsched_arena_range {
    const void *begin;
    size_t bytes;
};

/**
 * In these, @arena: one of the window's, or NULL for all of them; @writes: all that kernels have written, or NULL: it
 * is looked for, which takes longer. What a side does, kernels included, has ended before it releases, or the arena is
 * handed over.
 *
 * The arena is that side's alone.
 */
int ptsched_arena_acquire_ownership(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side,
                                    const struct ptsched_arena_range *writes, size_t count);

/** It is shared. */
int ptsched_arena_release_ownership(struct ptsched_arena_window *window, struct ptsched_arena *arena,
                                    const struct ptsched_arena_range *writes, size_t count);

/** That side finds what the other one has released. */
int ptsched_arena_acquire(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side);

/** What that side has written is for the other to find when it acquires. */
int ptsched_arena_release(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side,
                          const struct ptsched_arena_range *writes, size_t count);

/** That side is about to use it: if the other one owns it, it is shared from now on. */
int ptsched_arena_access(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side);

/**
 * The host is about to read, or if @to_write is not 0 to write, all of that: it gets now what it has not. For memory
 * that system calls and drivers are given, which fail where the host does not have it. An arena that GPUs own is shared
 * from then on; what is not the window's is let be.
 */
int ptsched_arena_touch(struct ptsched_arena_window *window, const void *begin, size_t bytes, int to_write);

/** A side, or PTSCHED_ARENA_SHARED. */
int ptsched_arena_owner(const struct ptsched_arena *arena);

/** What a window has done since it was made; times are in nanoseconds. */
struct ptsched_arena_state {
    size_t size;                          /* sizeof(struct ptsched_arena_state) */
    uint64_t bytes, made;                 /* addresses, and how much of them has memory */
    uint64_t arenas, blocks, block_bytes; /* there now */
    uint64_t read_faults, write_faults;   /* of the host */
    uint64_t twins;                       /* pages that were copied to find out what is written there */
    uint64_t compared_pages;              /* on GPUs */
    uint64_t different_words;             /* that went over one by one */
    uint64_t to_gpus, to_host;            /* pages that were copied */
    uint64_t made_shared;                 /* arenas that the other side has used */
    uint64_t fault_ns, difference_ns, copy_ns;
};

/** @state->size is given. */
int ptsched_arena_get_state(struct ptsched_arena_window *window, struct ptsched_arena_state *state);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_ARENA_H */
