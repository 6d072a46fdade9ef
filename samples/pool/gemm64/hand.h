/* SPDX-License-Identifier: MIT */
/* The same products without a pool, by cuBLAS. Functions that can fail return what went wrong, or null. */
#ifndef SAMPLES_POOL_GEMM64_HAND_H
#define SAMPLES_POOL_GEMM64_HAND_H

#ifdef __cplusplus
extern "C" {
#endif

/* On the device: matrices of 64 x 64 by rows, one behind the other. */
struct Gemm64Products {
    const void *a, *b;
    void *c;
    unsigned count;
    int is_double;
};

/* All that can be made ready is, for each of the forms; on the current device, or the first. */
const char *gemm64_hand_open(const struct Gemm64Products *products);
unsigned gemm64_hand_forms(void);
const char *gemm64_hand_name(unsigned form);
/* All products, so many times one after another, and then waits until all are there. */
const char *gemm64_hand_run(unsigned form, unsigned times);
void gemm64_hand_close(void);

#ifdef __cplusplus
}
#endif

#endif /* SAMPLES_POOL_GEMM64_HAND_H */
