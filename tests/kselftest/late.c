// SPDX-License-Identifier: MIT
/*
 * How late an important program gets its turn beside processes that mean it ill: they
 * keep the turn, ask in loops, give up and ask again. It is judged where the
 * clocks count instructions (scripts/vmtest --icount), and there alone.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "ks.h"

enum { BOUND_NS = 1000000, TURNS = 20, HOSTILE = 8 };

/* What a holder that does not drain is given: the default of the setting. */
#define DRAIN_NS 100000000LL

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* It need not be waited for until it has a CPU to give the turn back with. */
static void be_preemptible(int fd)
{
	struct ptsched_mechanism arg = {.size = sizeof(arg), .mechanism = PTSCHED_MECHANISM_PREEMPT};

	if (ioctl(fd, PTSCHED_IOC_MECHANISM, &arg))
		_exit(2);
}

/* It has the turn, and does not give it back before others have been let in. */
static void keep(int fd)
{
	const volatile struct ptsched_page *page = ks_page(fd);

	for (;;) {
		ks_acquire(fd);
		while (!(page->state & PTSCHED_STATE_SHARED))
			ks_try(fd);
		ks_release(fd);
	}
}

static void try_in_a_loop(int fd)
{
	be_preemptible(fd);
	for (;;)
		if (!ks_try(fd))
			ks_release(fd);
}

static void give_up(int fd)
{
	be_preemptible(fd);
	for (;;)
		if (!ks_acquire_until(fd, (uint64_t)now_ns() + 20000, 0))
			ks_release(fd);
}

static pid_t begin(void (*live)(int fd))
{
	struct ks_sign ready = ks_sign_new();
	pid_t pid = fork();

	if (!pid) {
		int fd;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpriority(PRIO_PROCESS, 0, 19);
		fd = ks_client();
		if (fd < 0)
			_exit(1);
		ks_sign_give(&ready);
		live(fd);
	}
	ks_sign_await(&ready);
	close(ready.fd[0]);
	close(ready.fd[1]);
	return pid;
}

/* How long it waits at most, beyond what it has to. */
static long long latest(int fd, long long due_ns)
{
	struct timespec pause = {.tv_nsec = 10000000};
	long long most = 0;

	for (int i = 0; i < TURNS; i++) {
		long long begin_ns = now_ns(), late;

		if (ks_acquire(fd))
			exit(1);
		late = now_ns() - begin_ns - due_ns;
		most = late > most ? late : most;
		ks_release(fd);
		nanosleep(&pause, NULL);
	}
	return most;
}

static void beside(int number, const char *name, int count, void (*live)(int fd), long long due_ns)
{
	pid_t hostile[HOSTILE];
	long long late;
	bool ok;
	int fd;

	for (int i = 0; i < count; i++)
		hostile[i] = begin(live);
	fd = ks_client();
	late = latest(fd, due_ns);
	ok = late > 0 && (!getenv("PTSCHED_INSTRUCTION_CLOCK") || late < BOUND_NS);
	printf("# beside %d that %s: %lld ns late at most\n", count, name, late);
	printf("%sok %d - beside those that %s, a turn comes in time\n", ok ? "" : "not ", number, name);
	fflush(stdout);
	for (int i = 0; i < count; i++) {
		kill(hostile[i], SIGKILL);
		ks_wait(hostile[i]);
	}
	close(fd);
}

int main(void)
{
	printf("TAP version 13\n1..3\n");
	beside(1, "keep their turns", 1, keep, DRAIN_NS);
	beside(2, "ask in loops", HOSTILE, try_in_a_loop, 0);
	beside(3, "give up and ask again", HOSTILE, give_up, 0);
	return 0;
}
