/* SPDX-License-Identifier: MIT */
/* Tasks of the measurements, for the host's compiler and for that of kernels. */
#ifndef SAMPLES_POOL_MICRO_TASKS_H
#define SAMPLES_POOL_MICRO_TASKS_H

/* Does nothing, and is so large. */
template <unsigned Bytes> struct Nothing {
    unsigned long long words[Bytes / 8];
};

#endif /* SAMPLES_POOL_MICRO_TASKS_H */
