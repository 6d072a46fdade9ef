/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library that watches a program's CUDA calls: it exports names of the driver, counts, and passes on. Built
 * with STAND_IN, it is a library that stands in for the driver instead, as unit tests have them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static int launches;

EXPORT int neighbour_launches(void)
{
	return launches;
}

#ifdef STAND_IN
EXPORT int cuLaunchKernel(void)
{
	launches++;
	return 77;
}
#else
EXPORT int cuInit(unsigned int flags)
{
	int (*next)(unsigned int) = (int (*)(unsigned int))dlsym(RTLD_NEXT, "cuInit");

	return next ? next(flags) : 999;
}

EXPORT int cuLaunchKernel(void *f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by,
			  unsigned int bz, unsigned int shared, void *stream, void **params, void **extra)
{
	int (*next)(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
		    void *, void **, void **) = dlsym(RTLD_NEXT, "cuLaunchKernel");

	launches++;
	return next ? next(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra) : 999;
}
#endif
