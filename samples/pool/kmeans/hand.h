/* SPDX-License-Identifier: MIT */
/* The same without a pool (hand.cu). */
#ifndef SAMPLES_POOL_KMEANS_HAND_H
#define SAMPLES_POOL_KMEANS_HAND_H

#include "samples/pool/kmeans/problem.h"

extern "C" {

/* The host's part. */
struct hand_host {
    void *clustering;
    /* @count samples from @first on belong there. Thread-safe for different samples. */
    void (*update)(void *clustering, unsigned first, unsigned count, const ptsched::kmeans::Cluster *nearest);
    /* When all have been updated: the new centres, and behind them their norms, in page-locked memory. */
    const float *(*move)(void *clustering);
    /* Where the centres are that samples were last compared with. */
    float *(*used)(void *clustering);
};

/* Their names, a null pointer behind the last. */
extern const char *const hand_forms[];
/*
 * In the place of what was prepared before. Norms are behind @problem's centres. Returns what went wrong, or a null
 * pointer; the text stays until the next call.
 */
const char *hand_prepare(const ptsched::kmeans::Problem *problem, const struct hand_host *host, unsigned threads);
/* Seconds of so many iterations. The first centres are the problem's as it is called; they are changed. */
const char *hand_run(int form, unsigned iterations, double *seconds);
}

#endif /* SAMPLES_POOL_KMEANS_HAND_H */
