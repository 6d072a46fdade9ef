/* SPDX-License-Identifier: MIT */
/* The search without a pool, in all the forms that one writes (hand.cu). */
#ifndef SAMPLES_POOL_IRREGULAR_HAND_H
#define SAMPLES_POOL_IRREGULAR_HAND_H

#include "samples/pool/irregular/tree.h"

extern "C" {

/* Their names, a null pointer behind the last. */
extern const char *const hand_forms[];
/*
 * By form number @form. Seconds from the call to the result, without what is prepared once. Returns what went wrong, or
 * a null pointer; the text stays until the next call.
 */
const char *hand_search(int form, const ptsched::irregular::Shape *shape, ptsched::irregular::Found *found,
                        double *seconds);
}

#endif /* SAMPLES_POOL_IRREGULAR_HAND_H */
