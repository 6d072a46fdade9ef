/* SPDX-License-Identifier: MIT */
/* Products of matrices of 64 x 64, for the host's compiler and for that of kernels. */
#ifndef SAMPLES_POOL_GEMM64_TASKS_H
#define SAMPLES_POOL_GEMM64_TASKS_H

/*
 * c = a b, by rows. A block does as many as it has 128 threads, which lie one behind the other: so a task may be of
 * several products.
 */
template <typename T> struct Product {
    const T *a, *b;
    T *c;
};

#endif /* SAMPLES_POOL_GEMM64_TASKS_H */
