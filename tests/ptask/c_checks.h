/* SPDX-License-Identifier: MIT */
#ifndef PTASK_C_CHECKS_H
#define PTASK_C_CHECKS_H

#ifdef __cplusplus
extern "C" {
#endif

/* How many of them failed. @module: with the kernel "matmul". */
int c_checks(const char *module);

#ifdef __cplusplus
}
#endif

#endif /* PTASK_C_CHECKS_H */
