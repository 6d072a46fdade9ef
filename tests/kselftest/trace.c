// SPDX-License-Identifier: MIT
/*
 * The death of a holder, as the tracepoints tell it: exit, release and the grant
 * to who waits come one after another on one processor, with no timer in between.
 */
#include <signal.h>
#include <stdio.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

#define TRACING "/sys/kernel/tracing/"

static int put(const char *file, const char *text)
{
	char path[256];
	int fd, ret;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -errno;
	close(fd);
	return ret;
}

/* A line of the trace: the processor, the event and the process that it names. */
struct line {
	int cpu;
	char event[64];
	int tgid;
};

static bool parse(const char *text, struct line *out)
{
	const char *bracket = strchr(text, '['), *named;
	double when;

	*out = (struct line){.tgid = -1};
	if (*text == '#' || !bracket)
		return false;
	if (sscanf(bracket, "[%d] %*s %lf: %63[^:]", &out->cpu, &when, out->event) != 3)
		return false;
	named = strstr(text, "tgid=");
	if (named)
		out->tgid = atoi(named + 5);
	return true;
}

static int read_trace(struct line *lines, int max)
{
	FILE *trace = fopen(TRACING "trace", "r");
	char text[1024];
	int count = 0;

	while (trace && count < max && fgets(text, sizeof(text), trace))
		count += parse(text, &lines[count]);
	if (trace)
		fclose(trace);
	return count;
}

static int find(const struct line *lines, int count, int from, const char *event, int tgid)
{
	for (int i = from; i < count; i++)
		if (!strcmp(lines[i].event, event) && lines[i].tgid == tgid)
			return i;
	return -1;
}

FIXTURE(trace)
{
	struct ks_sign ready;
	pid_t holder, waiter;
};

FIXTURE_SETUP(trace)
{
	self->ready = ks_sign_new();
	ASSERT_EQ(0, ks_be_patient());
	ASSERT_EQ(0, put("tracing_on", "0"));
	ASSERT_EQ(0, put("trace", ""));
	/*
	 * Only events of our own, and no hook on every context switch: qemu before 8.1
	 * may keep the breakpoint of a patch in code that another processor translates
	 * at that moment, and then stands still.
	 */
	ASSERT_EQ(0, put("options/record-cmd", "0"));
	ASSERT_EQ(0, put("events/ptsched/enable", "1"));
	self->holder = fork();
	if (!self->holder) {
		if (ks_acquire(ks_client()))
			_exit(1);
		ks_sign_give(&self->ready);
		for (;;)
			pause();
	}
	ks_sign_await(&self->ready);
	ASSERT_EQ(0, put("tracing_on", "1"));
	self->waiter = fork();
	if (!self->waiter) {
		int fd = ks_client();

		_exit(ks_acquire(fd) || ks_release(fd) ? 1 : 0);
	}
	KS_UNTIL(ks_state(self->waiter) == PTSCHED_ENTITY_WAITING);
}

FIXTURE_TEARDOWN(trace)
{
	EXPECT_EQ(0, ks_be_impatient());
	put("tracing_on", "1");
	put("events/ptsched/enable", "0");
	put("options/record-cmd", "1");
	put("trace", "");
}

TEST_F(trace, death_release_and_grant_without_a_timer)
{
	static struct line lines[65536];
	int count, death, release, grant;

	kill(self->holder, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, ks_wait(self->holder));
	EXPECT_EQ(0, ks_wait(self->waiter));
	ASSERT_EQ(0, put("tracing_on", "0"));
	count = read_trace(lines, 65536);
	EXPECT_LE(0, find(lines, count, 0, "ptsched_attach", self->waiter));
	EXPECT_LE(0, find(lines, count, 0, "ptsched_wait", self->waiter));
	death = find(lines, count, 0, "ptsched_exit", self->holder);
	ASSERT_LE(0, death);
	release = find(lines, count, death, "ptsched_release", self->holder);
	ASSERT_LT(death, release);
	grant = find(lines, count, release, "ptsched_grant", self->waiter);
	ASSERT_LT(release, grant);
	EXPECT_EQ(lines[death].cpu, lines[grant].cpu);
	for (int i = death; i < grant; i++)
		EXPECT_STRNE("ptsched_expire", lines[i].event);
}

TEST_F(trace, who_does_not_drain_is_overruled_by_the_timer)
{
	static struct line lines[65536];
	int count, callback, expire, forced;

	/* More than can have passed since the callback: who changes the time would see that it is over. */
	EXPECT_EQ(0, ks_set_drain(2000000000));
	EXPECT_EQ(0, ks_wait(self->waiter));
	kill(self->holder, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, ks_wait(self->holder));
	ASSERT_EQ(0, put("tracing_on", "0"));
	count = read_trace(lines, 65536);
	callback = find(lines, count, 0, "ptsched_callback", self->holder);
	ASSERT_LE(0, callback);
	forced = find(lines, count, callback, "ptsched_forced", self->holder);
	ASSERT_LT(callback, forced);
	expire = find(lines, count, callback, "ptsched_expire", -1);
	ASSERT_LT(callback, expire);
	EXPECT_LT(expire, forced);
	EXPECT_EQ(lines[expire].cpu, lines[forced].cpu);
}

TEST_F(trace, use_is_told)
{
	static struct line lines[65536];
	struct ptsched_report report = {.size = sizeof(report), .submissions = 3, .gpu_ns = 1};
	struct ptsched_ack ack = {.size = sizeof(ack)};
	int fd = ks_client(), count;

	kill(self->holder, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, ks_wait(self->holder));
	EXPECT_EQ(0, ks_wait(self->waiter));
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ioctl(fd, PTSCHED_IOC_REPORT, &report));
	ASSERT_EQ(0, ioctl(fd, PTSCHED_IOC_ACK, &ack));
	ASSERT_EQ(0, put("tracing_on", "0"));
	count = read_trace(lines, 65536);
	EXPECT_LE(0, find(lines, count, 0, "ptsched_charge", getpid()));
	EXPECT_LE(0, find(lines, count, 0, "ptsched_ack", getpid()));
}

TEST_HARNESS_MAIN
