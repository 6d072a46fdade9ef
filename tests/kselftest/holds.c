// SPDX-License-Identifier: MIT
/*
 * How long a device is locked, at most, whatever users open: for each kind of crowd,
 * and for a device that nobody crowds. It is judged where the clocks count
 * instructions (scripts/vmtest --icount), and there alone.
 */
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

/* A kind of crowd: each of its processes opens as much of it as there may be in one, and then lives on. */
struct crowd {
	const char *name;
	int count;
	int in_one;
	int (*open)(int count); /* a client, or nothing of use */
	void (*live)(int fd);
};

static void stay(int fd)
{
	pause();
}

static void take_turns(int fd)
{
	for (;;) {
		ks_acquire(fd);
		ks_release(fd);
	}
}

static int open_clients(int count)
{
	while (count--)
		if (ks_client() < 0)
			die("client");
	return -1;
}

static int open_listeners(int count)
{
	while (count--)
		if (!ks_events_open())
			die("listener");
	return -1;
}

static void *wait_once(void *fd)
{
	ks_acquire((int)(intptr_t)fd);
	return NULL;
}

static int open_threads(int count)
{
	int fd = ks_client();
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	while (count--)
		if (pthread_create(&thread, &attr, wait_once, (void *)(intptr_t)fd))
			die("thread");
	return fd;
}

static int open_pollers(int count)
{
	int fd = ks_client();

	while (count--) {
		struct epoll_event event = {.events = EPOLLIN};
		int epoll = epoll_create1(0);

		if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
			die("epoll");
	}
	return fd;
}

static int open_client(int count)
{
	return ks_client();
}

static int open_member(int count)
{
	int fd = ks_client();

	if (fd < 0 || ks_group(fd, "crowd"))
		die("group");
	return fd;
}

/* One process of a crowd, which has opened its part and does not outlive this one. */
static pid_t join(const struct crowd *crowd, int count)
{
	struct ks_sign ready = ks_sign_new();
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		int fd;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = crowd->open(count);
		ks_sign_give(&ready);
		crowd->live(fd);
	}
	ks_sign_await(&ready);
	close(ready.fd[0]);
	close(ready.fd[1]);
	return pid;
}

static int gather(const struct crowd *crowd, pid_t *members)
{
	int processes = 0, left;

	for (left = crowd->count; left > 0; left -= crowd->in_one)
		members[processes++] = join(crowd, left < crowd->in_one ? left : crowd->in_one);
	return processes;
}

static void disperse(const pid_t *members, int processes)
{
	for (int i = 0; i < processes; i++)
		kill(members[i], SIGKILL);
	for (int i = 0; i < processes; i++)
		ks_wait(members[i]);
}

/* What two honest processes do: one gives the turn back when the other wants it. */
static void work(void)
{
	const struct crowd another = {"others", 1, 1, open_client, take_turns};
	int fd = ks_client();
	const volatile struct ptsched_page *page = ks_page(fd);
	pid_t other = join(&another, 1);

	if (fd < 0 || page == MAP_FAILED)
		die("work");
	for (int i = 0; i < TURNS; i++) {
		ks_acquire(fd);
		KS_UNTIL(page->state & PTSCHED_STATE_WANTED);
		ks_release(fd);
		ks_try(fd);
		ks_release(fd);
	}
	munmap((void *)page, (size_t)sysconf(_SC_PAGESIZE));
	disperse(&other, 1);
	close(fd);
}

static void judge(int number, int count, const char *name)
{
	bool ok = !getenv("PTSCHED_INSTRUCTION_CLOCK") || longest() <= BOUND_NS;

	printf("# %d %s: a device is locked for %lld ns at most\n", count, name, longest());
	printf("%sok %d - beside %s no device is locked for long\n", ok ? "" : "not ", number, name);
	fflush(stdout);
}

static void beside(int number, const struct crowd *crowd)
{
	static pid_t members[4096];
	int holder = ks_client(), processes;

	measure();
	/* Nobody has the turn while they come. */
	ks_acquire(holder);
	processes = gather(crowd, members);
	ks_release(holder);
	close(holder);
	work();
	disperse(members, processes);
	KS_UNTIL(ks_count() == 0);
	judge(number, crowd->count, crowd->name);
}

int main(void)
{
	const struct crowd crowds[] = {
	    {"others", 0, 1, open_client, stay},
	    {"clients", 4000, PTSCHED_CLIENTS_MAX, open_clients, stay},
	    {"listeners", 1000, 1000, open_listeners, stay},
	    {"waiting threads", 3000, 3000, open_threads, stay},
	    {"pollers", 3000, 3000, open_pollers, take_turns},
	    {"waiting processes", 256, 1, open_client, take_turns},
	    {"members of a group", PTSCHED_GROUP_MAX, 1, open_member, take_turns},
	};
	const int count = sizeof(crowds) / sizeof(crowds[0]);
	struct rlimit many = {70000, 70000};

	if (setrlimit(RLIMIT_NOFILE, &many))
		die("setrlimit");
	printf("TAP version 13\n1..%d\n", count);
	for (int i = 0; i < count; i++)
		beside(i + 1, &crowds[i]);
	return 0;
}
