/* SPDX-License-Identifier: MIT */
#ifndef TEST_ARENA_CALL_C_CHECKS_H
#define TEST_ARENA_CALL_C_CHECKS_H

#ifdef __cplusplus
extern "C" {
#endif

/* How many of them failed. @module: with the kernels of the tests; @word: memory that both sides reach. */
int c_checks(const char *module, unsigned long long *word);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ARENA_CALL_C_CHECKS_H */
