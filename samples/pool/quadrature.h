/* SPDX-License-Identifier: MIT */
#ifndef QUADRATURE_H
#define QUADRATURE_H

/* A part of the range that is integrated. */
struct Part {
    double from, to;
    double tolerance;
    double sum;          /* out: the integral, if the error is small enough */
    int is_exact_enough; /* out */
    int unused;
};

#endif /* QUADRATURE_H */
