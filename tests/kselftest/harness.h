/* SPDX-License-Identifier: MIT */
/* The kernel's harness, with time for a debug kernel in an emulated machine. */
#ifndef KS_HARNESS_H
#define KS_HARNESS_H

#include <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 120

#endif /* KS_HARNESS_H */
