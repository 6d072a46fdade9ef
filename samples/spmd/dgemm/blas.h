/* SPDX-License-Identifier: MIT */
/* By cuBLAS. A function returns what went wrong, or null. */
#ifndef SAMPLES_SPMD_DGEMM_BLAS_H
#define SAMPLES_SPMD_DGEMM_BLAS_H

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * c = a b, of so many rows, each of @inner elements, and @columns: by rows, all on the current GPU. Goes to the stream,
 * which has a handle of its own from the first use on. Thread-safe.
 */
const char *blas_multiply(struct CUstream_st *stream, unsigned int rows, unsigned int inner, unsigned int columns,
                          const double *a, const double *b, double *c);
/* Streams' handles go; none has work. */
void blas_forget(void);

#ifdef __cplusplus
}
#endif

#endif /* SAMPLES_SPMD_DGEMM_BLAS_H */
