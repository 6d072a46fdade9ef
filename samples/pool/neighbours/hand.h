/* SPDX-License-Identifier: MIT */
/* The same without a pool (hand.cu). */
#ifndef SAMPLES_POOL_NEIGHBOURS_HAND_H
#define SAMPLES_POOL_NEIGHBOURS_HAND_H

#include "samples/pool/neighbours/problem.h"

extern "C" {

/* Selects for @rows samples from @first on, whose products with all are in page-locked memory. Thread-safe. */
typedef void hand_select(void *selection, unsigned first, unsigned rows, const float *products);

/* Their names, a null pointer behind the last. */
extern const char *const hand_forms[];
/*
 * In the place of what was prepared before. Returns what went wrong, or a null pointer; the text stays until the next
 * call.
 */
const char *hand_prepare(const ptsched::neighbours::Problem *problem, hand_select *select, void *selection,
                         unsigned threads);
/* Seconds from the call until all is selected. */
const char *hand_run(int form, double *seconds);
}

#endif /* SAMPLES_POOL_NEIGHBOURS_HAND_H */
