/* SPDX-License-Identifier: MIT */
/*
 * libptsched's interface with a scheduler behind it that does what the test says, linked into a copy of the interposer
 * in place of the real one. The page is the test's to write.
 */
#ifndef TEST_PRELOAD_SCRIPTED_CLIENT_H
#define TEST_PRELOAD_SCRIPTED_CLIENT_H

#include <linux/ptsched.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Obtained by dlsym(RTLD_DEFAULT, "scripted_scheduler"). */
struct scripted_scheduler {
    /* What ptsched_open() answers from now on; 0: a client. */
    void (*refuse)(int error);
    /* Whether acquire grants at once (the default) or waits for grant(). */
    void (*grant_at_once)(int yes);
    void (*grant)(void);
    /* Sets and clears bits of the state of the newest client's page, and tells its poll descriptor. */
    void (*change)(unsigned set, unsigned clear);
    /*
     * Calls the turn back, setting more bits, and waits until it has been given back; false: there was none. (The agent
     * may give it back by itself at any time.)
     */
    int (*take_back)(unsigned set);
    /* Tells the poll descriptor without any change, and waits until that has been acknowledged. */
    void (*call_for_nothing)(void);
    void (*set_inflight_ns)(unsigned long long ns);
    unsigned (*state)(void);
    /* Counts, and waits until a count has reached a value. */
    unsigned long (*opens)(void);
    unsigned long (*waiting)(void);
    unsigned long (*releases)(void);
    unsigned long (*reports)(void);
    unsigned long (*mechanisms)(void); /* told */
    unsigned (*mechanism)(void);       /* the last one */
    unsigned long long (*gpu_ns)(void);
    unsigned long long (*submissions)(void);
    void (*await_waiting)(unsigned long count);
    void (*await_releases)(unsigned long count);
    void (*await_reports)(unsigned long count);
    void (*await_mechanisms)(unsigned long count);
    void (*await_submissions)(unsigned long long count);
    void (*await_acknowledged)(void);
    /* The scheduler is gone: DEAD in the page, EPIPE from every call, POLLHUP. */
    void (*die)(void);
};

#ifdef __cplusplus
}
#endif

#endif
