/* SPDX-License-Identifier: MIT */
/**
 * @file
 * libptsched-tasks: tasks that say what they read and write; order, overlap,
 * copies and devices follow. For C; tasks.hpp has the same for C++, and says
 * more.
 *
 * Functions return 0 or a negative errno; ptsched_tasks_error_text() says in
 * words what was wrong. -EINVAL: what is asked for is not possible; -EIO: a task
 * has failed, which the text names; -ETIMEDOUT; -ENOMEM. Any thread may call all
 * of it, but for ptsched_tasks_destroy().
 *
 * Timeouts are in nanoseconds: 0 does not block, and PTSCHED_TASKS_FOREVER, or
 * any other negative number, has no end.
 *
 * Structures begin with their size, which is sizeof. Later versions may add
 * members at the end: what a program does not know of is taken for 0, and
 * -EINVAL is for members that the library does not know of, unless they are 0.
 */
#ifndef PTSCHED_TASKS_H
#define PTSCHED_TASKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ptsched_tasks;

#define PTSCHED_TASKS_FOREVER (-1)

/** What went wrong in the last call of this thread that returned an error; never NULL, and valid until the next one. */
const char *ptsched_tasks_error_text(void);

enum ptsched_tasks_attach {
    PTSCHED_TASKS_ALONE = 0,
    PTSCHED_TASKS_ATTACH = 1,      /* each GPU by turns that ptsched gives out, where it runs */
    PTSCHED_TASKS_MUST_ATTACH = 2, /* or else -EINVAL */
};

enum ptsched_tasks_memory {
    PTSCHED_TASKS_COPIED = 0,     /* copies are made before the tasks that need them */
    PTSCHED_TASKS_MANAGED = 1,    /* the driver moves pages that are touched */
    PTSCHED_TASKS_PREFETCHED = 2, /* the same, before the tasks that need them */
};

/** What is 0 is as it says here. Read by ptsched_tasks_create() alone. */
struct ptsched_tasks_options {
    size_t size;                 /* sizeof(struct ptsched_tasks_options) */
    unsigned int workers;        /* threads, the one that waits included; as many as the host has processors */
    const unsigned int *devices; /* GPUs, by their numbers in the CUDA driver's order; NULL: all */
    size_t device_count;
    unsigned int streams; /* of each GPU, and as many for tasks with a priority; at most 64; 8 */
    unsigned int attach;  /* an enum ptsched_tasks_attach */
    unsigned int check;   /* 1: each task by itself, and who uses what it has not declared is reported; slow */
    const char *timeline; /* a file to be written at the end, for Perfetto; NULL: none */
    const char *graph;    /* the same for Graphviz */
};

int ptsched_tasks_create(const struct ptsched_tasks_options *options, struct ptsched_tasks **tasks);

/** Waits for all tasks; a failure that nobody has waited for is logged. NULL is allowed. Not to be called by a task. */
void ptsched_tasks_destroy(struct ptsched_tasks *tasks);

enum ptsched_tasks_mode {
    PTSCHED_TASKS_IN = 0,
    PTSCHED_TASKS_OUT = 1, /* all of it is written: what was there does not matter */
    PTSCHED_TASKS_INOUT = 2,
    PTSCHED_TASKS_COMMUTATIVE = 3, /* as inout, in any order, but by one task at a time */
    PTSCHED_TASKS_REDUCTION = 4,   /* each task adds to a copy of its own, and these are combined */
    PTSCHED_TASKS_WEAK_IN = 5,     /* not by the task itself, but perhaps by tasks that it makes */
    PTSCHED_TASKS_WEAK_OUT = 6,
    PTSCHED_TASKS_WEAK_INOUT = 7,
};

/** How the copies of a reduction begin, and come together: of @bytes each. It must stay as long as the runtime. */
struct ptsched_tasks_combine {
    void (*begin)(void *copy, size_t bytes);
    void (*add)(void *to, const void *copy, size_t bytes);
};

/** Memory that a task uses: @rows rows of @row_bytes, of which each begins @pitch bytes behind the one before. */
struct ptsched_tasks_access {
    size_t size; /* sizeof(struct ptsched_tasks_access) */
    void *begin;
    size_t row_bytes;
    size_t rows;                                 /* 0: one */
    size_t pitch;                                /* of more than one row */
    unsigned int mode;                           /* an enum ptsched_tasks_mode */
    const struct ptsched_tasks_combine *combine; /* of a reduction */
};

/** Where a function finds what its task has declared, in that order. */
struct ptsched_tasks_call {
    void *const *addresses;
    const size_t *pitches; /* of more than one row; on a GPU it may be another than was declared */
    void *stream;          /* of a task for a GPU, its CUstream, in whose order its work belongs; else NULL */
    int device;            /* its number in the driver's order; else -1 */
};

/** What is not 0 fails the task: a negative errno, whose text is then in the runtime's. */
typedef int (*ptsched_tasks_function)(void *context, const struct ptsched_tasks_call *call);

/** A task. One of @on_host and @on_gpu must not be NULL; with both, it runs where it is likely to be done first. */
struct ptsched_tasks_task {
    size_t size;                    /* sizeof(struct ptsched_tasks_task) */
    ptsched_tasks_function on_host; /* called by a worker */
    ptsched_tasks_function on_gpu;  /* gives the stream work and does not wait */
    void *context;
    size_t context_bytes; /* not 0: so many bytes at @context are copied, and the function gets the copy */
    const struct ptsched_tasks_access *accesses;
    size_t access_count;
    const char *name;    /* for errors and pictures, NULL: none; must stay as long as the runtime */
    int priority;        /* larger ones go first */
    unsigned int device; /* by its place in @devices, from 1 on; 0: where it is likely to be done first */
};

/**
 * Make a task. It runs when those before it that it depends on have ended. Inside
 * a task, those that it makes belong to it, and it ends when these have. Does not
 * block.
 */
int ptsched_tasks_add(struct ptsched_tasks *tasks, const struct ptsched_tasks_task *task);

/**
 * Block until all tasks have ended, in a task those that it has made, at most
 * @timeout_ns: then -ETIMEDOUT. What they have written is on the host. -EIO: one
 * has failed, and the ones that depend on it have not run; -EINVAL: tasks wait
 * for each other, so that nothing can go on.
 */
int ptsched_tasks_wait(struct ptsched_tasks *tasks, int64_t timeout_ns);

/** The same for tasks that use that memory. */
int ptsched_tasks_wait_for(struct ptsched_tasks *tasks, const struct ptsched_tasks_access *access, int64_t timeout_ns);

/** The running task ends when, besides, ptsched_tasks_drop() was called for it, by any thread. -EINVAL outside of one.
 */
int ptsched_tasks_hold(void **hold);
void ptsched_tasks_drop(void *hold);

/** Memory for arrays, of which @memory is an enum ptsched_tasks_memory. */
int ptsched_tasks_allocate(struct ptsched_tasks *tasks, size_t bytes, unsigned int memory, void **array);

/**
 * From now on a wait for all does not bring an array to the host that a GPU has written. One for a range of it does,
 * which code outside of tasks is to do before it touches that.
 */
int ptsched_tasks_keep_on_gpus(struct ptsched_tasks *tasks, void *array);

/** If a task still uses it, the memory stays until none is left, and the next wait returns -EINVAL. NULL is allowed. */
void ptsched_tasks_free(struct ptsched_tasks *tasks, void *array);

/** What a runtime has done so far. */
struct ptsched_tasks_state {
    size_t size;                        /* sizeof(struct ptsched_tasks_state), set by the program */
    uint64_t made, on_host, on_devices; /* tasks */
    uint64_t live;                      /* made and not ended */
    uint64_t edges;                     /* that made one wait for another */
    uint64_t bytes_to_devices, bytes_to_host, bytes_between;
};

/** Fills @state up to its size. */
int ptsched_tasks_get_state(const struct ptsched_tasks *tasks, struct ptsched_tasks_state *state);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_TASKS_H */
