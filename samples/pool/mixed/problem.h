/* SPDX-License-Identifier: MIT */
/*
 * Two kinds of work for one GPU: a sparse matrix by a vector, which waits for memory, and the prices of options under
 * several volatilities by Black and Scholes, which computes.
 */
#ifndef SAMPLES_POOL_MIXED_PROBLEM_H
#define SAMPLES_POOL_MIXED_PROBLEM_H

namespace ptsched::mixed {

/* Compressed rows: those of row i are from begins[i] to begins[i + 1]. y = matrix * x. */
struct Matrix {
    const unsigned int *begins, *columns;
    const float *values, *x;
    float *y;
    unsigned int rows, entries;
};

/* What each is worth on average over the volatilities. */
struct Options {
    const float *prices, *strikes, *years;
    float *calls, *puts;
    unsigned int count, volatilities;
};

struct Problem {
    Matrix matrix;
    Options options;
};

/* A part of it: of the matrix, rows; of the options, some of them. The problem is in the device's memory. */
struct Multiply {
    const Problem *problem;
    unsigned int first, last;
};

struct Price {
    const Problem *problem;
    unsigned int first, last;
};

} // namespace ptsched::mixed

#endif /* SAMPLES_POOL_MIXED_PROBLEM_H */
