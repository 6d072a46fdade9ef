// SPDX-License-Identifier: MIT
/*
 * Suspend while somebody has the turn and others wait: the time asleep is nobody's, and
 * all go on where they were. By the kernel's own test of suspend, which wakes up by itself.
 */
#include <stdio.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

#define NSEC_PER_SEC 1000000000LL

/* Longer than a wait, which is shorter than what a turn is kept for. */
enum { ASLEEP_S = 10, WAIT_S = 8 };

static bool file_has(const char *path, const char *word)
{
	FILE *file = fopen(path, "r");
	char line[256];
	bool found = file && fgets(line, sizeof(line), file) && strstr(line, word);

	if (file)
		fclose(file);
	return found;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* How long the machine has been asleep so far. */
static int64_t asleep_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
}

/* Up to @level: processes are frozen at "devices", and clocks stand still at "core". */
static int sleep_for(int seconds, const char *level)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", seconds);
	if (write_file("/sys/module/suspend/parameters/pm_test_delay", text) ||
	    write_file("/sys/power/pm_test", level))
		return -EIO;
	return write_file("/sys/power/state", "mem");
}

/* Where the fixture has found that this kernel cannot; to skip the test there would not end it. */
#define NEEDS_SUSPEND								\
	do {									\
		if (!self->holder)						\
			SKIP(return, "this kernel cannot test suspend to memory " \
				     "(SUSPEND, PM_SLEEP_DEBUG, ACPI)");	\
	} while (0)

FIXTURE(suspend)
{
	struct ks_sign holds, go;
	pid_t holder;
};

FIXTURE_SETUP(suspend)
{
	if (!file_has("/sys/power/pm_test", "core") || !file_has("/sys/power/mem_sleep", "[deep]"))
		return;
	ASSERT_EQ(0, ks_be_patient());
	self->holds = ks_sign_new();
	self->go = ks_sign_new();
	self->holder = fork();
	if (!self->holder) {
		int fd = ks_client();

		if (ks_acquire(fd))
			_exit(1);
		ks_sign_give(&self->holds);
		ks_sign_await(&self->go);
		_exit(ks_release(fd) ? 2 : 0);
	}
	ks_sign_await(&self->holds);
}

FIXTURE_TEARDOWN(suspend)
{
	if (!self->holder)
		return;
	EXPECT_EQ(0, write_file("/sys/power/pm_test", "none"));
	EXPECT_EQ(0, ks_be_impatient());
}

TEST_F(suspend, the_time_asleep_is_nobodys)
{
	struct ks_entity before, after;
	int64_t asleep = asleep_ns(), awake, deadline = clock_ns(CLOCK_MONOTONIC) + WAIT_S * NSEC_PER_SEC;
	pid_t waiter;

	NEEDS_SUSPEND;
	waiter = fork();
	if (!waiter) {
		int ret = ks_acquire_until(ks_client(), (uint64_t)deadline, 0);

		/* Not before its time, by the clock that stood still. */
		_exit(ret != -ETIMEDOUT ? 1 : clock_ns(CLOCK_MONOTONIC) < deadline ? 2 : 0);
	}
	KS_UNTIL(ks_state(waiter) == PTSCHED_ENTITY_WAITING);
	awake = clock_ns(CLOCK_MONOTONIC);
	ASSERT_EQ(0, ks_entity(self->holder, &before));
	ASSERT_EQ(0, sleep_for(ASLEEP_S, "core"));
	ASSERT_EQ(0, ks_entity(self->holder, &after));
	awake = clock_ns(CLOCK_MONOTONIC) - awake;
	/* Else nothing has been tested. */
	ASSERT_LT(NSEC_PER_SEC, asleep_ns() - asleep);
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, after.state);
	EXPECT_LE((int64_t)(after.held_ns - before.held_ns), awake);
	EXPECT_LE(before.budget_ns - after.budget_ns, awake);
	EXPECT_EQ(0, ks_wait(waiter));
	ks_sign_give(&self->go);
	EXPECT_EQ(0, ks_wait(self->holder));
}

TEST_F(suspend, who_is_frozen_goes_on_where_it_was)
{
	pid_t waiters[2];

	NEEDS_SUSPEND;
	for (int i = 0; i < 2; i++) {
		waiters[i] = fork();
		if (!waiters[i]) {
			int fd = ks_client();

			_exit(ks_acquire(fd) ? 1 : ks_release(fd) ? 2 : 0);
		}
		KS_UNTIL(ks_state(waiters[i]) == PTSCHED_ENTITY_WAITING);
	}
	ASSERT_EQ(0, sleep_for(1, "devices"));
	for (int i = 0; i < 2; i++)
		KS_UNTIL(ks_state(waiters[i]) == PTSCHED_ENTITY_WAITING);
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, ks_state(self->holder));
	ks_sign_give(&self->go);
	EXPECT_EQ(0, ks_wait(self->holder));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, ks_wait(waiters[i]));
	EXPECT_EQ(0, ks_count());
}

TEST_HARNESS_MAIN
