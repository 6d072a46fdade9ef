/* SPDX-License-Identifier: MIT */
/* What a fuzz target demands: where it does not hold, the fuzzer keeps the input. */
#ifndef PTSCHED_TEST_FUZZ_CHECK_HPP
#define PTSCHED_TEST_FUZZ_CHECK_HPP

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
