// SPDX-License-Identifier: MIT
/*
 * How long a device is locked, at most, whatever users open: for each kind of crowd,
 * and for a device that nobody crowds. It is judged where the clocks count
 * instructions (scripts/vmtest --icount), and there alone.
 */
#include <linux/genetlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "ks.h"
#include "ks_netlink.h"

enum { BOUND_NS = 50000, TURNS = 100 };

#define LONGEST "/sys/module/ptsched/parameters/longest_hold_ns"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void measure(void)
{
	int fd = open(LONGEST, O_WRONLY);

	if (fd < 0 || write(fd, "0", 1) != 1)
		die(LONGEST);
	close(fd);
}

static long long longest(void)
{
	char text[32] = "";
	int fd = open(LONGEST, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 1)
		die(LONGEST);
	close(fd);
	return atoll(text);
}

/* What two honest processes do. */
static void work(void)
{
	int one = ks_client(), two;
	pid_t other = fork();

	if (one < 0 || other < 0)
		die("work");
	if (!other) {
		two = ks_client();
		for (int i = 0; i < TURNS; i++) {
			ks_acquire(two);
			ks_release(two);
		}
		_exit(0);
	}
	for (int i = 0; i < TURNS; i++) {
		ks_acquire(one);
		usleep(100);
		ks_release(one);
		ks_try(one);
		ks_release(one);
	}
	ks_wait(other);
	close(one);
}

/* A process of a crowd, which does not outlive this one. */
static pid_t member(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* So many clients, in processes of as many as one may have. */
static int clients(int count, pid_t *members)
{
	int processes = 0;

	for (; count > 0; count -= PTSCHED_CLIENTS_MAX) {
		struct ks_sign ready = ks_sign_new();

		members[processes] = member();
		if (!members[processes]) {
			for (int i = 0; i < PTSCHED_CLIENTS_MAX && i < count; i++)
				if (ks_client() < 0)
					die("client");
			ks_sign_give(&ready);
			pause();
		}
		ks_sign_await(&ready);
		processes++;
	}
	return processes;
}

static int listeners(int count, pid_t *members)
{
	struct ks_sign ready = ks_sign_new();

	members[0] = member();
	if (!members[0]) {
		for (int i = 0; i < count; i++)
			if (!ks_events_open())
				die("listener");
		ks_sign_give(&ready);
		pause();
	}
	ks_sign_await(&ready);
	return 1;
}

static void *wait_once(void *fd)
{
	ks_acquire((int)(intptr_t)fd);
	return NULL;
}

/* Threads of one process that wait for its turn, and those who poll it. */
static int threads(int count, pid_t *members)
{
	struct ks_sign ready = ks_sign_new();

	members[0] = member();
	if (!members[0]) {
		int fd = ks_client();
		pthread_attr_t attr;
		pthread_t thread;

		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 16384);
		for (int i = 0; i < count; i++)
			if (pthread_create(&thread, &attr, wait_once, (void *)(intptr_t)fd))
				die("thread");
		ks_sign_give(&ready);
		pause();
	}
	ks_sign_await(&ready);
	return 1;
}

static int pollers(int count, pid_t *members)
{
	struct ks_sign ready = ks_sign_new();

	members[0] = member();
	if (!members[0]) {
		int fd = ks_client();

		for (int i = 0; i < count; i++) {
			struct epoll_event event = {.events = EPOLLIN};
			int epoll = epoll_create1(0);

			if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
				die("epoll");
		}
		ks_acquire(fd);
		ks_sign_give(&ready);
		for (;;) {
			ks_release(fd);
			ks_acquire(fd);
		}
	}
	ks_sign_await(&ready);
	return 1;
}

/* Processes that wait, each with one client. */
static int waiters(int count, pid_t *members)
{
	for (int i = 0; i < count; i++) {
		struct ks_sign ready = ks_sign_new();

		members[i] = member();
		if (!members[i]) {
			int fd = ks_client();

			ks_sign_give(&ready);
			for (;;) {
				ks_acquire(fd);
				ks_release(fd);
			}
		}
		ks_sign_await(&ready);
		close(ready.fd[0]);
		close(ready.fd[1]);
	}
	return count;
}

static void judge(int number, int count, const char *name)
{
	bool ok = !getenv("PTSCHED_INSTRUCTION_CLOCK") || longest() <= BOUND_NS;

	printf("# %d %s: a device is locked for %lld ns at most\n", count, name, longest());
	printf("%sok %d - beside %s no device is locked for long\n", ok ? "" : "not ", number, name);
	fflush(stdout);
}

static void crowd(int number, int count, const char *name, int (*gather)(int count, pid_t *members))
{
	static pid_t members[4096];
	int holder = ks_client(), processes;

	measure();
	/* Nobody has the turn while they come. */
	ks_acquire(holder);
	processes = gather(count, members);
	ks_release(holder);
	close(holder);
	work();
	for (int i = 0; i < processes; i++)
		kill(members[i], SIGKILL);
	for (int i = 0; i < processes; i++)
		ks_wait(members[i]);
	KS_UNTIL(ks_count() == 0);
	judge(number, count, name);
}

int main(void)
{
	struct rlimit many = {70000, 70000};

	if (setrlimit(RLIMIT_NOFILE, &many))
		die("setrlimit");
	printf("TAP version 13\n1..6\n");
	measure();
	work();
	judge(1, 0, "others");
	crowd(2, 4000, "clients", clients);
	crowd(3, 1000, "listeners", listeners);
	crowd(4, 3000, "waiting threads", threads);
	crowd(5, 3000, "pollers", pollers);
	/* The policy looks at each of them. */
	crowd(6, 64, "waiting processes", waiters);
	return 0;
}
