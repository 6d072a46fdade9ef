/* SPDX-License-Identifier: MIT */
/*
 * A libcuda.so.1 for tests of the interposer alone: it has every entry point that entry_points.def names, does no work,
 * and completes what was submitted when the test says so.
 */
#ifndef TEST_PRELOAD_HAND_DRIVER_H
#define TEST_PRELOAD_HAND_DRIVER_H

#include "tests/hand_clock.h"

#define PTSCHED_CUDA_ABI_TYPES_ONLY
#include "libptsched/cuda/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of each device, and of each of these, whatever the kernel. */
enum { HAND_MULTIPROCESSORS = 16, HAND_BLOCKS_AT_ONCE = 2 };

/* What a test asks of the driver; obtained by dlsym(handle, "hand_controls"). */
struct hand_controls {
    /* Calls of the entry point @name that reached the driver. */
    unsigned long (*calls)(const char *name);
    /* Whether work completes as soon as it is submitted (the default). */
    void (*complete_by_itself)(int yes);
    /* Whose time it is, and who is told of threads that sleep in the driver. */
    void (*use_clock)(const test::HandClock *clock);
    /* Whether work completes when it has taken as long as it was said to; who waits for it sleeps until then. */
    void (*run_in_time)(int yes);
    /* How long each submission takes from now on, by the events around it; a millisecond at first. */
    void (*set_duration_us)(unsigned us);
    /* What events themselves take: two of them with nothing in between, and in addition to submissions. */
    void (*set_event_us)(unsigned around_nothing, unsigned around_work);
    /* Completes all that was submitted. */
    void (*complete_all)(void);
    /* In time: how long the work that a stream has takes from now on. */
    unsigned long long (*queued_us)(CUstream stream);
    /* Events recorded so far, and those that went into a captured stream. */
    unsigned long (*events)(void);
    unsigned long (*events_captured)(void);
    /* And on legacy default streams. */
    unsigned long (*events_on_legacy)(void);
    /* Nodes of the graph that a stream captures, or of a captured graph. */
    unsigned long (*nodes)(const void *graph);
    /* Submissions return at once, neither counted nor queued: for measuring what is in front of them. */
    void (*do_nothing)(int yes);
    /* The driver's own cuLaunchKernel. */
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                       void **, void **);
    /* What the calling thread's next submission does first. */
    void (*in_next_submission)(void (*body)(void));
    /* Whether calls that begin a capture stay in the driver. */
    void (*hold_captures)(int yes);
    /* So many do now. */
    int (*captures_beginning)(void);
    /* How many events there may be from now on, and how many there are. */
    void (*limit_events)(unsigned long most);
    unsigned long (*events_there)(void);
    /* Whether primary contexts are there (they are at first), as far as the driver says. */
    void (*set_primary_active)(int active);
    /* What every event call answers from now on. */
    void (*fail_events)(CUresult with);
};

#ifdef __cplusplus
}
#endif

#endif
