/* SPDX-License-Identifier: MIT */
/* CMocka with what it needs before it, and a way to run some of the cases only. */
#ifndef CASES_H
#define CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Runs those that PTSCHED_CASE, a pattern as the shell's, matches; without that, all. */
#define run_cases(name, cases)                              \
	(cmocka_set_test_filter(getenv("PTSCHED_CASE")), \
	 cmocka_run_group_tests_name(name, cases, NULL, NULL))

#endif
