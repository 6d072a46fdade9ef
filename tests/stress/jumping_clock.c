/* SPDX-License-Identifier: MIT */
/*
 * Preloaded, it makes the time of day jump: four times a second to another of some offsets of hours, forwards and
 * backwards, as if somebody set the clock. CLOCK_MONOTONIC goes on as ever, and so do all waits in the kernel.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int64_t offset_seconds(void)
{
	const int64_t jump_ns = 250000000, hours = 3600, farthest = 30;
	struct timespec now;
	uint64_t jumps;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	jumps = (uint64_t)(now.tv_sec * (1000000000 / jump_ns) + now.tv_nsec / jump_ns);
	/* Any that differs from one to the next will do: this goes through all of them. */
	return ((int64_t)(jumps * 37 % (2 * farthest + 1)) - farthest) * hours;
}

static int is_time_of_day(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, time);

	if (ret == 0 && is_time_of_day(clock))
		time->tv_sec += offset_seconds();
	return ret;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

EXPORT time_t time(time_t *where)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (where)
		*where = now.tv_sec;
	return now.tv_sec;
}

EXPORT int timespec_get(struct timespec *time, int base)
{
	return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}
