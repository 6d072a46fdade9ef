// SPDX-License-Identifier: MIT
/*
 * Unloading a module that is in use: refused as long as any of its descriptors is open
 * anywhere, and done when the last is gone, be it that those who had them are dying at
 * that moment. Nothing is left then, and the module can be loaded again.
 */
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <signal.h>
#include <stdio.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

enum { LIVES = 6, REFUSALS = 20 };

static uint64_t random_state;

static uint32_t rnd(void)
{
	return ks_random(&random_state);
}

static const char *module_path(void)
{
	const char *path = getenv("PTSCHED_MODULE");

	return path ? path : "/vm/modules/ptsched.ko";
}

/* -EAGAIN: it is in use. */
static int unload(void)
{
	return ks_result((int)syscall(SYS_delete_module, "ptsched", O_NONBLOCK));
}

static int load(void)
{
	int fd = open(module_path(), O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = ks_result((int)syscall(SYS_finit_module, fd, "test_devices=2", 0));
	close(fd);
	return ret;
}

/* What a loaded module can be known by. */
static bool has_line(const char *path, const char *text)
{
	FILE *file = fopen(path, "r");
	char line[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, text);
	if (file)
		fclose(file);
	return found;
}

static bool has_family(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	bool found = sock && !genl_connect(sock) && genl_ctrl_resolve(sock, PTSCHED_GENL_NAME) >= 0;

	nl_socket_free(sock);
	return found;
}

enum { ALL_TRACES = 9 };

/* How many of them there are. */
static int traces(void)
{
	return (access(KS_NODE, F_OK) ? 0 : 1) + (access("/sys/module/ptsched", F_OK) ? 0 : 1) +
	       (access("/sys/kernel/tracing/events/ptsched", F_OK) ? 0 : 1) + has_family() +
	       has_line("/proc/misc", "ptsched") + has_line("/proc/kallsyms", "[ptsched]") +
	       has_line("/proc/slabinfo", "ptsched_client") + has_line("/proc/slabinfo", "ptsched_entity") +
	       has_line("/proc/slabinfo", "ptsched_user");
}

FIXTURE(module)
{
	int unused;
};

FIXTURE_SETUP(module)
{
	random_state = ks_seed();
	TH_LOG("PTSCHED_SEED=%llu", (unsigned long long)random_state);
	if (access(module_path(), R_OK))
		SKIP(return, "PTSCHED_MODULE does not say where ptsched.ko is");
	ASSERT_EQ(ALL_TRACES, traces());
}

FIXTURE_TEARDOWN(module)
{
	if (access(KS_NODE, F_OK))
		EXPECT_EQ(0, load());
}

/* ---- what keeps it: each gives a descriptor that does, when nothing else is left ---- */

static int by_open_file(void)
{
	return ks_open();
}

static int by_mapping(void)
{
	struct ks_sign ready = ks_sign_new();
	int stop[2];

	if (pipe(stop))
		return -1;
	if (!fork()) {
		int fd = ks_client();
		char byte;

		close(stop[1]);
		if (fd < 0 || ks_page(fd) == MAP_FAILED)
			_exit(1);
		close(fd);
		ks_sign_give(&ready);
		_exit((int)read(stop[0], &byte, 1));
	}
	ks_sign_await(&ready);
	close(stop[0]);
	return stop[1];
}

static int by_descriptor_on_its_way(void)
{
	int pair[2], fd = ks_client();

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || ks_send_fd(pair[0], fd))
		return -1;
	close(fd);
	close(pair[0]);
	return pair[1];
}

/* Its owner is dead. */
static int by_inherited_file(void)
{
	int stop[2];
	pid_t child;

	if (pipe(stop))
		return -1;
	child = fork();
	if (!child) {
		int fd = ks_client();
		char byte;

		close(stop[1]);
		if (fd >= 0 && !ks_acquire(fd) && !fork())
			_exit((int)read(stop[0], &byte, 1));
		_exit(fd < 0);
	}
	close(stop[0]);
	return ks_wait(child) ? -1 : stop[1];
}

/* Neither of its two parts has been read. */
static int by_dump(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int family, fd = -1;

	if (sock && !genl_connect(sock) && (family = genl_ctrl_resolve(sock, PTSCHED_GENL_NAME)) >= 0 &&
	    genl_send_simple(sock, family, PTSCHED_CMD_GET_DEVICE, PTSCHED_GENL_VERSION, NLM_F_DUMP) >= 0)
		fd = dup(nl_socket_get_fd(sock));
	nl_socket_free(sock);
	return fd;
}

static int by_waiting_thread(void)
{
	int stop[2];

	if (pipe(stop))
		return -1;
	if (!fork()) {
		int fd = ks_client();
		char byte;

		close(stop[1]);
		if (fd < 0 || ks_acquire(fd))
			_exit(1);
		if (!fork()) {
			int mine = ks_client();

			close(fd);
			_exit(ks_acquire(mine) ? 2 : 0);
		}
		_exit((int)read(stop[0], &byte, 1));
	}
	KS_UNTIL(ks_waiters() == 1);
	close(stop[0]);
	return stop[1];
}

static const struct use {
	const char *what;
	int (*begin)(void);
} uses[] = {
    {"an open file", by_open_file},
    {"a mapping", by_mapping},
    {"a descriptor that is on its way", by_descriptor_on_its_way},
    {"a descriptor that a child has of its dead parent", by_inherited_file},
    {"a dump that nobody has read", by_dump},
    {"a thread that waits", by_waiting_thread},
};

TEST_F(module, each_use_keeps_it)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		int fd = uses[i].begin(), ret;

		ASSERT_LE(0, fd) TH_LOG("%s", uses[i].what);
		EXPECT_EQ(-EAGAIN, unload()) TH_LOG("%s", uses[i].what);
		EXPECT_EQ(ALL_TRACES, traces());
		close(fd);
		KS_UNTIL((ret = unload()) != -EAGAIN);
		ASSERT_EQ(0, ret) TH_LOG("after %s", uses[i].what);
		EXPECT_EQ(0, traces()) TH_LOG("after %s", uses[i].what);
		ASSERT_EQ(0, load());
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* Else a program that watches would be in the way of every update. */
TEST_F(module, who_listens_does_not_keep_it)
{
	struct nl_sock *events = ks_events_open();
	struct ks_event event;
	int fd;

	ASSERT_NE(NULL, events);
	ASSERT_EQ(0, unload());
	ASSERT_EQ(0, load());
	fd = ks_client();
	ASSERT_LE(0, fd);
	close(fd);
	/* That was another module's, to which it did not listen. */
	nl_socket_set_nonblocking(events);
	EXPECT_EQ(-EIO, ks_events_next(events, &event));
	ks_events_close(events);
}

/* ---- under load ---- */

/* Whether a module that is not there explains it. */
static bool is_gone(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -ENXIO;
}

static uint64_t soon(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + rnd() % 5000000;
}

/* With an open client, all of the module is there. */
static void use_client(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN | POLLPRI};
	int ret;

	if (rnd() % 2 && ks_page(fd) == MAP_FAILED)
		_exit(2);
	if (rnd() % 2 && ks_count() < 1)
		_exit(3);
	if (rnd() % 2)
		poll(&poller, 1, (int)(rnd() % 3));
	if (rnd() % 4 == 0 && !fork()) {
		ks_nap(&random_state);
		_exit(ks_try(fd) == -EPERM ? 0 : 4);
	}
	ret = ks_acquire_until(fd, soon(), 0);
	if (ret && ret != -ETIMEDOUT)
		_exit(5);
	ks_nap(&random_state);
	if (!ret && rnd() % 2 && ks_release(fd))
		_exit(6);
}

/* A process that comes and goes, and leaves half of what it opens to its end. */
static void live(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = (int)(rnd() % 5); i >= 0; i--) {
		struct nl_sock *events = rnd() % 3 ? NULL : ks_events_open();
		int fd = ks_client();

		if (fd < 0)
			_exit(is_gone(fd) ? 0 : 1);
		use_client(fd);
		if (rnd() % 2)
			close(fd);
		if (rnd() % 2)
			ks_events_close(events);
	}
	_exit(0);
}

/* The first status that is neither an end of its own nor a kill. */
static int bury(pid_t *pid, int flags)
{
	int status;

	if (*pid <= 0 || waitpid(*pid, &status, flags) != *pid)
		return 0;
	*pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == SIGKILL ? 0 : 128 + WTERMSIG(status);
}

static void keep_alive(pid_t *lives)
{
	for (int i = 0; i < LIVES; i++) {
		if (lives[i] > 0)
			continue;
		lives[i] = ks_fork_random(&random_state);
		if (!lives[i])
			live();
	}
}

TEST_F_TIMEOUT(module, it_goes_when_the_last_of_many_has_gone, 280)
{
	int rounds = ks_is_slow() ? 5 : 15;
	pid_t lives[LIVES] = {0};

	for (int round = 0; round < rounds; round++) {
		int anchor = ks_open(), ret;

		ASSERT_LE(0, anchor);
		for (int i = 0; i < REFUSALS; i++) {
			keep_alive(lives);
			if (rnd() % 2)
				kill(lives[rnd() % LIVES], SIGKILL);
			ASSERT_EQ(-EAGAIN, unload());
			ks_nap(&random_state);
			for (int j = 0; j < LIVES; j++)
				ASSERT_EQ(0, bury(&lives[j], WNOHANG));
		}
		keep_alive(lives);
		close(anchor);
		/* In every other round they end by themselves. */
		for (int i = 0; i < LIVES && round % 2; i++)
			kill(lives[i], SIGKILL);
		while ((ret = unload()) == -EAGAIN)
			usleep(rnd() % 200);
		ASSERT_EQ(0, ret);
		ASSERT_EQ(0, traces());
		for (int i = 0; i < LIVES; i++)
			ASSERT_EQ(0, bury(&lives[i], 0));
		ASSERT_EQ(0, load());
		ASSERT_EQ(ALL_TRACES, traces());
	}
	TH_LOG("unloaded %d times", rounds);
}

TEST_HARNESS_MAIN
