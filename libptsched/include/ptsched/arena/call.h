/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Functions called across, between the host and GPUs, for C; call.hpp has the
 * same for C++, and says more. The GPU's are written in CUDA C++, with call.cuh.
 *
 * A function has a name and a signature, which is text: "double (const double *,
 * unsigned int)", with types as C spells them out, one blank before an asterisk,
 * and "long" for what has 64 bits. Structs are passed by pointers. Arguments are
 * given as an array of pointers to the values.
 *
 * Functions return 0 or a negative errno; ptsched_arena_call_error_text() says in
 * words what was wrong. -EINVAL: what is asked for is not possible, or is not
 * there, with what is; -EIO: a function has failed, or the device; -ETIMEDOUT;
 * -ENOMEM. Any thread may call all of it, but for ptsched_arena_call_destroy().
 *
 * Structures begin with their size, as those of pool.h.
 */
#ifndef PTSCHED_ARENA_CALL_H
#define PTSCHED_ARENA_CALL_H

#include <ptsched/pool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ptsched_arena_calls;
struct ptsched_arena_function;
struct ptsched_arena_call;

#define PTSCHED_ARENA_CALL_FOREVER (-1)

/** What went wrong in the last call of this thread that returned an error; never NULL, and valid until the next one. */
const char *ptsched_arena_call_error_text(void);

/** What is 0 is as it says here. Read by ptsched_arena_call_create() alone. */
struct ptsched_arena_call_options {
    size_t size;                              /* sizeof(struct ptsched_arena_call_options) */
    const struct ptsched_pool_kernel *kernel; /* its name is that of PTSCHED_ARENA_FUNCTIONS */
    const unsigned int *devices;              /* GPUs, by their numbers in the CUDA driver's order; NULL: the first */
    size_t device_count;
    unsigned int threads;      /* of the block that runs a call: a multiple of 32; 128 */
    unsigned int blocks;       /* so many calls run at once on each device; as many as a pool has */
    unsigned int slot_bytes;   /* arguments that need more, less 16, lie beside the slot; 64 */
    unsigned int line_slots;   /* calls of the host that a device may have begun at once: a power of two; 1024 */
    unsigned int host_threads; /* for functions of the host that wait; 16 */
    unsigned int attach;       /* an enum ptsched_pool_attach */
    uint64_t idle_ns;          /* after so long without a call the kernel leaves the device; 50 milliseconds */
    uint64_t patience_ns;      /* for so long ptsched_arena_call_destroy() waits for a call; 5 seconds */
};

/** Nothing is launched before the first call. -EINVAL, among others: no such kernel, or no list of functions with it.
 */
int ptsched_arena_call_create(const struct ptsched_arena_call_options *options, struct ptsched_arena_calls **calls);

/**
 * When no other thread uses it any more, nor a function or a call of it. Waits
 * for calls that have begun, as long as @patience_ns says. NULL is allowed.
 */
void ptsched_arena_call_destroy(struct ptsched_arena_calls *calls);

/** Where and how a function runs. */
struct ptsched_arena_call_how {
    size_t size;               /* sizeof(struct ptsched_arena_call_how) */
    unsigned int gpu;          /* by its place in the options' devices */
    unsigned int blocks;       /* 0: one, in a slot; else the call is a launch, spread over so many */
    unsigned int threads;      /* of each of these; 256 */
    unsigned int shared_bytes; /* likewise */
    unsigned int cooperative;  /* not 0: all blocks are there at once, and may wait for each other */
};

/** A function of the GPUs, which is there as long as @calls. @how: NULL is as with 0 in all of it. */
int ptsched_arena_call_find(struct ptsched_arena_calls *calls, const char *name, const char *signature,
                            const struct ptsched_arena_call_how *how, struct ptsched_arena_function **function);

/** A pointer that is valid on both sides: what a RemotePointer of call.cuh has. */
int ptsched_arena_call_number(struct ptsched_arena_calls *calls, const char *name, const char *signature,
                              unsigned int *number);

/**
 * A function of the host: it reads arguments, writes its result, unless it has
 * none, and returns 0, or a negative errno with which the call fails that has
 * come to it. Called by several threads at once.
 */
typedef int (*ptsched_arena_host_function)(void *context, const void *const *arguments, void *result);

/** Before kernels call it. @may_wait: not 0 if it may wait for long, as for a file; others are served meanwhile. */
int ptsched_arena_call_add(struct ptsched_arena_calls *calls, const char *name, const char *signature,
                           ptsched_arena_host_function function, void *context, int may_wait);

/** Call it, and block until it has ended. @result: where that goes; NULL if it has none. */
int ptsched_arena_call_run(struct ptsched_arena_function *function, const void *const *arguments, void *result);

/** Call it; the arguments are read before this returns. What comes of it is to be got, or let go. */
int ptsched_arena_call_start(struct ptsched_arena_function *function, const void *const *arguments,
                             struct ptsched_arena_call **call);

/** Block until it has ended, for so many nanoseconds at most; 0: only look. */
int ptsched_arena_call_wait(struct ptsched_arena_call *call, int64_t timeout_ns);

/** Block until it has ended. The handle is gone then, also with an error. */
int ptsched_arena_call_get(struct ptsched_arena_call *call, void *result);

/** It goes on, and nobody learns what comes of it. NULL is allowed. */
void ptsched_arena_call_drop(struct ptsched_arena_call *call);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_ARENA_CALL_H */
