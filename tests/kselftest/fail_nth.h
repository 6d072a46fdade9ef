/* SPDX-License-Identifier: MIT */
/* What can fail in a thread's calls fails, where the kernel injects faults: objects, pages and user copies. */
#ifndef FAIL_NTH_H
#define FAIL_NTH_H

#include <stdio.h>

#include "ks.h"

#define FAIL_NTH "/proc/thread-self/fail-nth"
#define FAIL_PAGES "/sys/kernel/debug/fail_page_alloc/"

static inline bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
}

/* No allocation is too important, and the log not full of what was asked for. */
static inline bool faults_are_ready(void)
{
	return put("/sys/kernel/debug/failslab/ignore-gfp-wait", "N") &&
	       put("/sys/kernel/debug/failslab/verbose", "0") &&
	       put(FAIL_PAGES "ignore-gfp-wait", "N") &&
	       put(FAIL_PAGES "ignore-gfp-highmem", "N") && put(FAIL_PAGES "min-order", "0") &&
	       put(FAIL_PAGES "verbose", "0") &&
	       put("/sys/kernel/debug/fail_usercopy/verbose", "0");
}

/* The @nth thing in what this thread does from now on that can fail does so; @file: FAIL_NTH. */
static inline void let_fail(int file, unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	/* To call it off can be what fails. */
	while (pwrite(file, text, (size_t)length, 0) != length)
		if (nth)
			_exit(97);
}

/* How many more could have failed before the one that was to; negative: to read that was what failed. */
static inline int left_to_fail(int file)
{
	char text[16] = "";

	return pread(file, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : -1;
}

static inline bool has_failed(int file)
{
	return left_to_fail(file) == 0;
}

/*
 * Whether this process is refused all memory that must be more than 2^@order pages in one
 * piece. What asks for a little at a time does not notice.
 */
static inline bool refuse_large(unsigned int order, bool refuse)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", refuse ? order + 1 : 0);
	return put(FAIL_PAGES "min-order", text) && put(FAIL_PAGES "task-filter", "Y") &&
	       put(FAIL_PAGES "times", "-1") && put("/proc/self/make-it-fail", refuse ? "1" : "0") &&
	       put(FAIL_PAGES "probability", refuse ? "100" : "0");
}

#endif /* FAIL_NTH_H */
