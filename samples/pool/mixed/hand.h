/* SPDX-License-Identifier: MIT */
/* The same without a pool (hand.cu). */
#ifndef SAMPLES_POOL_MIXED_HAND_H
#define SAMPLES_POOL_MIXED_HAND_H

#include "samples/pool/mixed/problem.h"

extern "C" {

/* Their names, a null pointer behind the last. Those that end in "-alone" do one of both. */
extern const char *const hand_forms[];
/*
 * @problem, whose arrays are in the device's memory, as is @cuts: rows from cuts[i] to cuts[i + 1] have as many entries
 * for each of @parts. What is prepared stays until the next call. Returns what went wrong, or a null pointer; the text
 * stays until the next call.
 */
const char *hand_prepare(const ptsched::mixed::Problem *problem, const unsigned *cuts, unsigned parts);
/* Seconds from the call until the host knows that all is done. */
const char *hand_run(int form, double *seconds);
}

#endif /* SAMPLES_POOL_MIXED_HAND_H */
