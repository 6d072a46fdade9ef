/* SPDX-License-Identifier: MIT */
/*
 * Steps with tiles of doubles by cuBLAS and cuSOLVER: n x n, by rows, one behind the other. They go to a stream of the
 * current device, which has a handle of its own from the first use on, and return what went wrong, or null.
 * Thread-safe.
 */
#ifndef SAMPLES_TASKS_COMMON_BLAS_H
#define SAMPLES_TASKS_COMMON_BLAS_H

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

/* c += a b */
const char *blas_multiply(struct CUstream_st *stream, unsigned int n, const double *a, const double *b, double *c);
/* The lower triangle of a becomes its factor l, where a = l l'. What is above it, is something. */
const char *blas_factor(struct CUstream_st *stream, unsigned int n, double *a);
/* a becomes the x for which x l' = a. */
const char *blas_solve(struct CUstream_st *stream, unsigned int n, const double *l, double *a);
/* c -= a b'; of the lower triangle alone where a is b. */
const char *blas_update(struct CUstream_st *stream, unsigned int n, const double *a, const double *b, double *c);
/* Streams' handles go; none has work. */
void blas_forget(void);

#ifdef __cplusplus
}
#endif

#endif /* SAMPLES_TASKS_COMMON_BLAS_H */
