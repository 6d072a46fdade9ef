/* SPDX-License-Identifier: MIT */
/* Tasks of the samples, for the host's compiler and for that of kernels. */
#ifndef SAMPLES_POOL_TASKS_H
#define SAMPLES_POOL_TASKS_H

/* Does nothing, and is so large. */
template <unsigned Bytes> struct Nothing {
    unsigned long long words[Bytes / 8];
};

/* Takes so many cycles. */
struct Spin {
    long long cycles;
    unsigned long long id;
};

#endif /* SAMPLES_POOL_TASKS_H */
