// SPDX-License-Identifier: MIT
/*
 * A thousand processes are killed at random points of their lives: attaching,
 * waiting, holding, sharing their files, with children that keep descriptors and
 * with mappings. Nothing is left of them, and the device goes to who asks next.
 */
#include <sched.h>
#include <signal.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

enum { AT_ONCE = 20 };

/* A thousand, or PTSCHED_STORM; fewer on a slow kernel. */
static int clients(void)
{
	const char *count = getenv("PTSCHED_STORM");

	if (count)
		return atoi(count);
	return ks_is_slow() ? 100 : 1000;
}

static uint64_t random_state;

static uint32_t rnd(void)
{
	return ks_random(&random_state);
}

/* Lives on with what it inherited, until the test is over. */
static int sleeper(void *arg)
{
	const struct ks_sign *stop = arg;
	char byte;

	return (int)read(stop->fd[0], &byte, 1);
}

static void leave_child(const struct ks_sign *stop)
{
	if (!fork())
		_exit(sleeper((void *)stop));
}

static void live(const struct ks_sign *stop, bool leaves)
{
	static char stack[16384] __attribute__((aligned(16)));
	bool first = true;

	/* Its end must come when the test lets go, not when the last of these does. */
	close(stop->fd[1]);
	for (;;) {
		int fd = ks_client();

		if (fd < 0)
			_exit(1);
		if (rnd() % 2)
			ks_page(fd);
		if (first && leaves && rnd() % 2)
			leave_child(stop);
		else if (first && leaves)
			clone(sleeper, stack + sizeof(stack), CLONE_FILES | SIGCHLD, (void *)stop);
		first = false;
		for (int turns = (int)(rnd() % 4); turns > 0; turns--) {
			if (ks_acquire(fd))
				_exit(2);
			if (rnd() % 4 == 0)
				break;
			if (ks_release(fd))
				_exit(3);
		}
		if (rnd() % 2)
			close(fd);
		/* Not too many of those that are not closed. */
		if (fd > 50)
			pause();
	}
}

FIXTURE(storm)
{
	struct ks_sign stop;
};

FIXTURE_SETUP(storm)
{
	random_state = ks_seed();
	TH_LOG("PTSCHED_SEED=%llu", (unsigned long long)random_state);
	self->stop = ks_sign_new();
}

FIXTURE_TEARDOWN(storm)
{
	/* The end of the pipe is the sign for all children that were left. */
	close(self->stop.fd[1]);
}

TEST_F_TIMEOUT(storm, a_thousand_deaths, 280)
{
	pid_t alive[AT_ONCE] = {0};
	int count = clients(), started = 0, killed = 0, fd;

	while (killed < count) {
		int slot = (int)(rnd() % AT_ONCE);

		if (alive[slot]) {
			kill(alive[slot], SIGKILL);
			EXPECT_EQ(128 + SIGKILL, ks_wait(alive[slot]));
			alive[slot] = 0;
			killed++;
		} else if (started < count) {
			/* Two in a hundred leave something behind that lives on. */
			bool leaves = started++ % 50 == 0;

			alive[slot] = ks_fork_random(&random_state);
			ASSERT_LE(0, alive[slot]);
			if (!alive[slot])
				live(&self->stop, leaves);
		}
		if (rnd() % 4 == 0)
			ks_nap(&random_state);
	}
	/* Children and mappings are still there; entities are not, or are being reaped. */
	KS_UNTIL(ks_count() == 0);
	EXPECT_EQ(0, ks_waiters());
	fd = ks_client();
	EXPECT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(0, ks_release(fd));
	close(fd);
	EXPECT_EQ(0, ks_count());
	TH_LOG("%d processes killed", killed);
}

TEST_HARNESS_MAIN
