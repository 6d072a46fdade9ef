/* SPDX-License-Identifier: MIT */
#ifndef TEST_POOL_C_CHECKS_H
#define TEST_POOL_C_CHECKS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How many of them failed. @module: with the kernels of the tests. @source: the text of one of those with squares();
 * @headers and @texts: @count files that it includes.
 */
int c_checks(const char *module, const char *source, const char *const *headers, const char *const *texts, int count);
/* With a task that is at fault: in a process of its own. */
int c_fault_checks(const char *module);

#ifdef __cplusplus
}
#endif

#endif /* TEST_POOL_C_CHECKS_H */
