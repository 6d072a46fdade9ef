/* SPDX-License-Identifier: MIT */
/*
 * The same factorization without a pool: the same steps as a launch each, these as a graph, and cuSOLVER. Functions
 * that can fail return what went wrong, or null.
 */
#ifndef SAMPLES_POOL_CHOLESKY_HAND_H
#define SAMPLES_POOL_CHOLESKY_HAND_H

#ifdef __cplusplus
extern "C" {
#endif

enum CholeskyWay {
    CHOLESKY_LAUNCHES, /* a launch for each step */
    CHOLESKY_GRAPH,
    CHOLESKY_CUSOLVER,
};

/*
 * All that can be made ready is; @matrix is on the current device, or the first, with room as steps.h says. Steps are
 * those of so many @columns.
 */
const char *cholesky_hand_open(double *matrix, unsigned int n, unsigned int columns);
unsigned int cholesky_hand_forms(void);
const char *cholesky_hand_name(unsigned int form);
enum CholeskyWay cholesky_hand_way(unsigned int form);
/* Factors the matrix, and waits until that is done. */
const char *cholesky_hand_run(unsigned int form);
void cholesky_hand_close(void);

#ifdef __cplusplus
}
#endif

#endif /* SAMPLES_POOL_CHOLESKY_HAND_H */
