/* SPDX-License-Identifier: MIT */
#ifndef SQUARES_H
#define SQUARES_H

/* A number, and what its square is. */
struct square {
    double number;
    double result; /* out */
};

#endif /* SQUARES_H */
