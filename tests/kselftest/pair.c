// SPDX-License-Identifier: MIT
/*
 * What a turn costs: acquire and release against a write and a read of an eventfd,
 * in turns in the same run. Time is printed, not judged; where the clocks count
 * instructions (scripts/vm --accel icount), three eventfd pairs must suffice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "ks.h"

enum { ROUNDS = 21, PAIRS = 2000 };

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int turn_pair(int fd)
{
	return ks_acquire(fd) || ks_release(fd);
}

static int eventfd_pair(int fd)
{
	uint64_t value = 1;

	return write(fd, &value, sizeof(value)) != sizeof(value) ||
	       read(fd, &value, sizeof(value)) != sizeof(value);
}

static int measure(int (*pair)(int fd), int fd, double *best)
{
	double begin = now_ns(), ns;

	for (int i = 0; i < PAIRS; i++)
		if (pair(fd))
			return -1;
	ns = (now_ns() - begin) / PAIRS;
	if (*best == 0 || ns < *best)
		*best = ns;
	return 0;
}

int main(void)
{
	bool counted = getenv("PTSCHED_INSTRUCTION_CLOCK");
	const char *unit = counted ? "instructions" : "ns";
	double turn = 0, event = 0;
	int client = ks_client(), eventfd_fd = eventfd(0, 0);
	bool ok = client >= 0 && eventfd_fd >= 0;

	printf("TAP version 13\n1..%d\n", counted ? 2 : 1);
	for (int i = 0; i < ROUNDS && ok; i++)
		ok = !measure(turn_pair, client, &turn) &&
		     !measure(eventfd_pair, eventfd_fd, &event);
	if (ok)
		printf("# acquire-release pair: %.0f %s, eventfd write+read pair: %.0f %s, ratio %.2f\n",
		       turn, unit, event, unit, turn / event);
	printf("%sok 1 - an acquire-release pair was measured\n", ok ? "" : "not ");
	if (counted) {
		ok = ok && turn <= 3 * event;
		printf("%sok 2 - a pair takes no more instructions than three eventfd pairs\n",
		       ok ? "" : "not ");
	}
	return !ok;
}
