// SPDX-License-Identifier: MIT
/*
 * What a turn costs: acquire and release against a write and a read of an eventfd,
 * in turns in the same run. Printed, not judged.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "ks.h"

enum { ROUNDS = 21, PAIRS = 2000 };

struct cost {
	double ns;
	double instructions; /* negative: cannot be counted here */
};

static int counter_open(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_HARDWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_HW_INSTRUCTIONS,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static long long counter_read(int fd)
{
	long long value;

	return fd >= 0 && read(fd, &value, sizeof(value)) == sizeof(value) ? value : -1;
}

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

static int measure(int (*pair)(int fd), int fd, int counter, struct cost *best)
{
	long long instructions = counter_read(counter);
	double begin = now_ns(), ns;

	for (int i = 0; i < PAIRS; i++)
		if (pair(fd))
			return -1;
	ns = (now_ns() - begin) / PAIRS;
	instructions = counter_read(counter) - instructions;
	if (best->ns == 0 || ns < best->ns)
		*best = (struct cost){ns, counter < 0 ? -1 : (double)instructions / PAIRS};
	return 0;
}

int main(void)
{
	struct cost turn = {0}, event = {0};
	int client = ks_client(), eventfd_fd = eventfd(0, 0), counter = counter_open();
	int failed = client < 0 || eventfd_fd < 0;

	printf("TAP version 13\n1..1\n");
	for (int i = 0; i < ROUNDS && !failed; i++)
		failed = measure(turn_pair, client, counter, &turn) ||
			 measure(eventfd_pair, eventfd_fd, counter, &event);
	printf("# acquire-release pair: %.0f ns, eventfd write+read pair: %.0f ns, ratio %.2f\n",
	       turn.ns, event.ns, failed ? 0 : turn.ns / event.ns);
	if (counter >= 0)
		printf("# instructions: %.0f against %.0f\n", turn.instructions, event.instructions);
	else
		printf("# instructions: the machine cannot count them\n");
	printf("%sok 1 - an acquire-release pair was measured\n", failed ? "not " : "");
	return failed;
}
