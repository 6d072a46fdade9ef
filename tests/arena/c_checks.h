/* SPDX-License-Identifier: MIT */
#ifndef TEST_ARENA_C_CHECKS_H
#define TEST_ARENA_C_CHECKS_H

#ifdef __cplusplus
extern "C" {
#endif

/* How many of them failed. */
int c_checks(void);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ARENA_C_CHECKS_H */
