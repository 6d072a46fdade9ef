/* SPDX-License-Identifier: MIT */
/**
 * @file
 * libptsched-pool: tasks that are too small for a launch each, for a kernel that
 * stays on the GPU. For C; pool.hpp has the same for C++, and says more.
 *
 * A task is a struct of 16 to 256 bytes, aligned to at most 16, that is copied
 * byte by byte. It is pushed, a block of the kernel works at it, and it is
 * popped as that has left it. Tasks run in no particular order. The kernel is
 * written in CUDA C++, with pool.cuh.
 *
 * Functions return 0 or a negative errno; ptsched_pool_error_text() says in
 * words what was wrong. -EINVAL: what is asked for is not possible, or does not
 * fit; -EIO: the pool has failed, and the text names the tasks that were begun;
 * -EPIPE: it is closed or was stopped; -ETIMEDOUT; -ENOMEM. Any thread may call
 * all of it, but for ptsched_pool_on_host() and ptsched_pool_destroy().
 *
 * Timeouts are in nanoseconds: 0 does not block, and PTSCHED_POOL_FOREVER, or
 * any other negative number, has no end.
 *
 * Structures begin with their size, which is sizeof. Later versions may add
 * members at the end: what a program does not know of is taken for 0, and
 * -EINVAL is for members that the library does not know of, unless they are 0.
 */
#ifndef PTSCHED_POOL_H
#define PTSCHED_POOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ptsched_pool;

#define PTSCHED_POOL_FOREVER (-1)

/** What went wrong in the last call of this thread that returned an error; never NULL, and valid until the next one. */
const char *ptsched_pool_error_text(void);

/** What a source includes by that name. All of an array have one size. */
struct ptsched_pool_header {
    size_t size; /* sizeof(struct ptsched_pool_header) */
    const char *name, *text;
};

/**
 * A kernel that calls serve() of pool.cuh and whose only parameter is Slots: by
 * its name and where it is, which is one of @module, @image and @cuda_source.
 * What is not used is NULL.
 */
struct ptsched_pool_kernel {
    size_t size; /* sizeof(struct ptsched_pool_kernel) */
    const char *name;
    const char *module; /* a file of SASS, PTX or fat binary, or a program with kernels */
    const void *image;  /* what such a file has, in memory; or the structure by which nvcc's code finds a fat binary */
    size_t image_bytes;
    const char *cuda_source;    /* the text, in CUDA C++; needs NVRTC, the compiler library of the CUDA toolkit */
    const char *const *options; /* for @cuda_source: the compiler's, say "-I/usr/include"; pool.cuh needs -std=c++20 */
    size_t option_count;
    const struct ptsched_pool_header *headers; /* for @cuda_source; those that come with CUDA are found without */
    size_t header_count;
};

enum ptsched_pool_attach {
    PTSCHED_POOL_ALONE = 0,
    PTSCHED_POOL_ATTACH = 1,      /* by turns that ptsched gives out, where it runs */
    PTSCHED_POOL_MUST_ATTACH = 2, /* or else -EINVAL */
};

/** What is 0 is as it says here. Read by ptsched_pool_create() alone. */
struct ptsched_pool_options {
    size_t size;                              /* sizeof(struct ptsched_pool_options) */
    const struct ptsched_pool_kernel *kernel; /* NULL: the pool has the host alone */
    const unsigned int *devices;              /* GPUs, by their numbers in the CUDA driver's order; NULL: all */
    size_t device_count;
    unsigned int threads;      /* in a block: a multiple of 32; 128 */
    unsigned int shared_bytes; /* dynamic shared memory of a block */
    unsigned int blocks;       /* on each device; as many as are there at once, but no more than for each 512 threads */
    unsigned int depth;        /* slots of a block: a power of two, at most 64; 4 */
    unsigned int outputs;      /* 1 */
    unsigned int priorities;   /* 1 to 16; 1 */
    size_t capacity;           /* tasks that may wait: of each priority; and results of each output; 8192 */
    unsigned int host_threads; /* of the machine's host pool, for tasks that may run on the host */
    unsigned int attach;       /* an enum ptsched_pool_attach */
    uint64_t idle_ns;          /* after so long without a task the kernel leaves the device; 50 milliseconds */
    uint64_t patience_ns; /* for so long ptsched_pool_destroy() waits for tasks that blocks have begun; 5 seconds */
};

/**
 * A pool for tasks of @kinds kinds, at most 256, of which kind i has
 * task_bytes[i] bytes and is the i-th function that the kernel serves. Nothing
 * is launched before the first task. -EINVAL, among others: no kernel of that
 * name, no GPU, no compiler for the source, or a source that does not compile,
 * with what the compiler says.
 */
int ptsched_pool_create(const struct ptsched_pool_options *options, const size_t *task_bytes, size_t kinds,
                        struct ptsched_pool **pool);

/**
 * Stop it and free it, when no other thread uses it any more. Waits for tasks
 * that blocks have begun, as long as @patience_ns says; if one has not ended
 * then, its kernel stays on the device until the process ends, with the memory
 * that it uses, which is logged. NULL is allowed. Not to be called by a
 * function of the pool's.
 */
void ptsched_pool_destroy(struct ptsched_pool *pool);

/**
 * What a task of a kind does on the host: it changes the task, which it must not
 * keep. Called by several threads at once. What is not 0 fails the pool: a
 * negative errno, whose text is then in the pool's.
 */
typedef int (*ptsched_pool_function)(void *context, void *task);

/**
 * Before the first task of that kind is pushed that may run on the host, for
 * which options have host_threads. @context stays the program's, and valid
 * until the pool is destroyed.
 */
int ptsched_pool_on_host(struct ptsched_pool *pool, unsigned int kind, ptsched_pool_function function, void *context);

enum ptsched_pool_where {
    PTSCHED_POOL_ON_DEVICE = 0,
    PTSCHED_POOL_ON_HOST = 1,
    PTSCHED_POOL_ON_EITHER = 2, /* on the host while no device has room */
};

/** How a task is pushed. */
struct ptsched_pool_how {
    size_t size;           /* sizeof(struct ptsched_pool_how) */
    unsigned int output;   /* to which it comes back */
    unsigned int where;    /* an enum ptsched_pool_where */
    unsigned int device;   /* by its place in @devices, from 1 on; 0: any */
    unsigned int priority; /* larger ones go first; less than @priorities */
};

/**
 * Give the pool a copy of a task of this kind; with NULL for @how, of all zeros.
 * Blocks while as many wait as may, at most @timeout_ns: then -ETIMEDOUT.
 * -EPIPE: the pool is closed or was stopped.
 */
int ptsched_pool_push(struct ptsched_pool *pool, unsigned int kind, const void *task,
                      const struct ptsched_pool_how *how, int64_t timeout_ns);

/**
 * The same for @count tasks, one behind the other in memory, in less time than
 * one by one. Unless @pushed is NULL, *@pushed is how many of them there was
 * room for, with 0 and -ETIMEDOUT; with other errors it is 0, though some may
 * have been pushed before a pool was closed.
 */
int ptsched_pool_push_many(struct ptsched_pool *pool, unsigned int kind, const void *tasks, size_t count,
                           const struct ptsched_pool_how *how, int64_t timeout_ns, size_t *pushed);

/**
 * Get a task that has come back, and, unless @kind is NULL, its kind. @bytes:
 * how much room there is at @task, which must do for the largest kind. Blocks
 * until there is one, at most @timeout_ns: then -ETIMEDOUT. -ENODATA: the pool
 * is closed and all of this output have been popped; -EPIPE: it was stopped,
 * and what had come back before has been popped.
 */
int ptsched_pool_pop(struct ptsched_pool *pool, unsigned int output, void *task, size_t bytes, unsigned int *kind,
                     int64_t timeout_ns);

/**
 * The same for @count at most: waits for the first of them only. Each has
 * @bytes at @tasks, one behind the other, and, unless @kinds is NULL, its kind
 * there. *@popped is how many there were, 0 where an error is returned.
 */
int ptsched_pool_pop_many(struct ptsched_pool *pool, unsigned int output, void *tasks, size_t bytes,
                          unsigned int *kinds, size_t count, int64_t timeout_ns, size_t *popped);

/** How many were pushed for this output and not popped. */
int ptsched_pool_unfinished(const struct ptsched_pool *pool, unsigned int output, size_t *count);

/** No more tasks come. */
int ptsched_pool_close(struct ptsched_pool *pool);

/** What has not been begun is dropped; who waits is told that there is no more. */
int ptsched_pool_stop(struct ptsched_pool *pool);

/**
 * Block until all that was pushed can be popped, at most @timeout_ns: then
 * -ETIMEDOUT. -EPIPE: it was stopped. Of more tasks than the capacity of an
 * output, somebody must pop some.
 */
int ptsched_pool_wait(struct ptsched_pool *pool, int64_t timeout_ns);

/** What a pool has done so far. */
struct ptsched_pool_state {
    size_t size;                  /* sizeof(struct ptsched_pool_state), set by the program */
    uint64_t on_devices, on_host; /* tasks that have ended there */
    uint64_t launches, parks;     /* how often a kernel came to a device, and left it */
    uint64_t in_slots;            /* tasks that blocks have, or have ended, and that were not collected yet */
    unsigned int resident;        /* 1: on one device at least */
    uint64_t last_park_ns;        /* from when it was last called back until nothing of it was on the device */
};

/** Fills @state up to its size. */
int ptsched_pool_get_state(const struct ptsched_pool *pool, struct ptsched_pool_state *state);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_POOL_H */
