/* SPDX-License-Identifier: MIT */
/* Tasks of these measurements, for the host's compiler and for that of kernels. */
#ifndef SAMPLES_POOL_CITIZEN_TASKS_H
#define SAMPLES_POOL_CITIZEN_TASKS_H

/* Takes as long as it has steps, of which each needs the one before. */
struct Chain {
    unsigned long long value;
    unsigned int steps, number;
};

struct Nothing {
    unsigned long long words[3];
};

/* A step is value * factor + summand: Knuth's linear congruential generator. */
constexpr unsigned long long step_factor = 6364136223846793005ULL, step_summand = 1442695040888963407ULL;

#endif /* SAMPLES_POOL_CITIZEN_TASKS_H */
