// SPDX-License-Identifier: MIT
/*
 * What goes wrong around the module and not in it: memory and user copies that fail, CPUs
 * that go, a clock that is set, processes that are stopped or traced while they hold the
 * turn or wait for it. Nothing is lost by any of it, and nothing is left.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>

#include "fail_nth.h"
#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"
#include "ks_pci.h"

enum { TURNS = 100, CLIENTS = 4 };

/* No call here makes more allocations and user copies than this. */
#define FAULTS_MAX 200

/* A process that has the turn, until @end is given; its status says whether it could give it back. */
static pid_t fork_holder(const struct ks_sign *end)
{
	struct ks_sign held = ks_sign_new();
	pid_t holder = fork();

	if (!holder) {
		int fd = ks_client();

		if (ks_acquire(fd))
			_exit(1);
		ks_sign_give(&held);
		ks_sign_await(end);
		_exit(ks_release(fd) != 0);
	}
	ks_sign_await(&held);
	return holder;
}

/* --- what fails inside a call --- */

/* Each returns what the call did; @fd is an attached client, but of open and attach. */
static int call_open(int fd)
{
	int opened = ks_open();

	if (opened >= 0)
		close(opened);
	return opened < 0 ? opened : 0;
}

static int call_attach(int fd)
{
	return ks_attach(fd, KS_DEVICE0, NULL);
}

static int call_acquire(int fd)
{
	return ks_acquire(fd);
}

static int call_map(int fd)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd,
			  PTSCHED_PAGE_OFFSET);

	return page == MAP_FAILED ? -errno :
				    ks_result(munmap(page, (size_t)sysconf(_SC_PAGESIZE)));
}

static int call_group(int fd)
{
	return ks_group(fd, "faults");
}

static int call_act_for(int fd)
{
	int pidfd = ks_pidfd(getppid());
	int ret = pidfd < 0 ? pidfd : ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, pidfd);

	if (pidfd >= 0)
		close(pidfd);
	return ret;
}

static int call_query(int fd)
{
	struct ptsched_query arg = {.size = sizeof(arg)};

	return ks_result(ioctl(fd, PTSCHED_IOC_QUERY, &arg));
}

static const struct {
	const char *name;
	int (*call)(int fd);
	bool attached;
} calls[] = {
    {"open", call_open, false},	 {"attach", call_attach, false},  {"acquire", call_acquire, true},
    {"mmap", call_map, true},	 {"group", call_group, true},	  {"act for", call_act_for, true},
    {"query", call_query, false},
};

/*
 * The exit status: 0: it failed as it may, 1: nothing was left to fail, else what is wrong.
 * What was done before its caller could not be told (EFAULT) need not be possible twice.
 */
static int call_with_fault(unsigned int which, unsigned int nth)
{
	int fd = calls[which].attached ? ks_client() : ks_open();
	int file = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	int ret, again;
	bool failed;

	if (fd < 0 || file < 0)
		return 2;
	let_fail(file, nth);
	ret = calls[which].call(fd);
	failed = has_failed(file);
	let_fail(file, 0);
	if (!failed)
		return ret ? 3 : 1;
	if (ret && ret != -ENOMEM && ret != -EFAULT)
		return 4;
	again = ret ? calls[which].call(fd) : 0;
	return again && !(ret == -EFAULT && again == -EBUSY) ? 5 : 0;
}

static int in_child_with_fault(unsigned int which, unsigned int nth)
{
	pid_t pid = fork();

	if (!pid)
		_exit(call_with_fault(which, nth));
	return ks_wait(pid);
}

TEST(whatever_can_fail_in_a_call_fails_cleanly)
{
	unsigned int which, nth;
	int status;

	if (access(FAIL_NTH, W_OK))
		SKIP(return, "this kernel injects no faults (FAULT_INJECTION)");
	ASSERT_TRUE(faults_are_ready());
	for (which = 0; which < sizeof(calls) / sizeof(*calls); which++) {
		for (nth = 1; nth <= FAULTS_MAX; nth++) {
			status = in_child_with_fault(which, nth);
			if (status)
				break;
		}
		TH_LOG("%s: %u faults", calls[which].name, nth - 1);
		EXPECT_EQ(1, status)
		{
			TH_LOG("%s with fault %u", calls[which].name, nth);
		}
		EXPECT_GT(nth, 1);
	}
	KS_UNTIL(ks_count() == 0);
}

/* --- a GPU that comes --- */

/* What the kernel needs at once itself; a device is larger. */
enum { SMALL_ORDER = 2 };

FIXTURE(gpu)
{
	char address[PTSCHED_NAME_LEN];
};

FIXTURE_SETUP(gpu)
{
	if (access(FAIL_NTH, W_OK))
		return;
	ASSERT_TRUE(faults_are_ready());
	ASSERT_EQ(0, say_to(BUS "rescan"));
	find_gpu(self->address, sizeof(self->address));
	ASSERT_NE('\0', self->address[0]);
	unplug_all();
}

FIXTURE_TEARDOWN(gpu)
{
	if (self->address[0])
		unplug_all();
}

static int attach_to(const char *address)
{
	int fd = ks_open();
	int ret = ks_attach(fd, address, NULL);

	close(fd);
	return ret;
}

TEST_F(gpu, without_memory_for_it_it_is_not_scheduled)
{
	char address[PTSCHED_NAME_LEN];
	int ret;

	if (!self->address[0])
		SKIP(return, "this kernel injects no faults (FAULT_INJECTION)");
	ASSERT_TRUE(refuse_large(SMALL_ORDER, true));
	ret = say_to(BUS "rescan");
	ASSERT_TRUE(refuse_large(SMALL_ORDER, false));
	ASSERT_EQ(0, ret);
	find_gpu(address, sizeof(address));
	EXPECT_STREQ(self->address, address);
	EXPECT_EQ(-ENODEV, attach_to(self->address));
	unplug_all();
	ASSERT_EQ(0, say_to(BUS "rescan"));
	EXPECT_EQ(0, attach_to(self->address));
}

/* --- CPUs --- */

static int take_turns(void)
{
	int fd = ks_client(), i;

	for (i = 0; fd >= 0 && i < TURNS; i++)
		if (ks_acquire(fd) || ks_release(fd))
			return 1;
	return fd < 0;
}

TEST(cpus_go_while_clients_wait)
{
	const char *const cpu = "/sys/devices/system/cpu/cpu1/online";
	pid_t pids[CLIENTS];
	unsigned int i, over = 0;

	if (access(cpu, W_OK))
		SKIP(return, "there is no second CPU that can go");
	for (i = 0; i < CLIENTS; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(take_turns());
	}
	while (over < CLIENTS) {
		ASSERT_TRUE(put(cpu, "0"));
		ASSERT_TRUE(put(cpu, "1"));
		for (i = 0; i < CLIENTS; i++) {
			siginfo_t info = {0};

			if (pids[i] && !waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOHANG) &&
			    info.si_pid) {
				EXPECT_EQ(0, info.si_status);
				pids[i] = 0;
				over++;
			}
		}
	}
	KS_UNTIL(ks_count() == 0);
}

/* --- clocks --- */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int set_clock(uint64_t ns)
{
	struct timespec to = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	return clock_settime(CLOCK_REALTIME, &to);
}

/* Sets the time of day a day ahead and back again, once @sign is given. */
static int jump(const struct ks_sign *sign)
{
	const uint64_t day = 86400ULL * 1000000000;

	ks_sign_await(sign);
	KS_UNTIL(ks_waiters() == 1);
	return set_clock(now_ns(CLOCK_REALTIME) + day) || set_clock(now_ns(CLOCK_REALTIME) - day);
}

TEST(a_deadline_is_no_time_of_day)
{
	struct ks_sign sign = ks_sign_new(), end = ks_sign_new();
	uint64_t deadline;
	pid_t holder, setter;
	int fd;

	ASSERT_EQ(0, ks_be_patient());
	setter = fork();
	if (!setter)
		_exit(jump(&sign));
	holder = fork_holder(&end);
	fd = ks_client();
	ASSERT_GE(fd, 0);
	ks_sign_give(&sign);
	deadline = now_ns(CLOCK_MONOTONIC) + 500000000;
	EXPECT_EQ(-ETIMEDOUT, ks_acquire_until(fd, deadline, 0));
	EXPECT_GE(now_ns(CLOCK_MONOTONIC), deadline);
	EXPECT_EQ(0, ks_wait(setter));
	ks_sign_give(&end);
	EXPECT_EQ(0, ks_wait(holder));
	EXPECT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(0, ks_be_impatient());
	close(fd);
}

/* --- processes that are stopped --- */

TEST(who_is_stopped_with_the_turn_does_not_keep_it_from_others)
{
	struct ks_sign end = ks_sign_new();
	pid_t holder = fork_holder(&end);
	int fd;

	ASSERT_EQ(0, kill(holder, SIGSTOP));
	ASSERT_EQ(0, ks_be_impatient());
	fd = ks_client();
	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, ks_acquire(fd));
	EXPECT_TRUE(ks_page(fd)->state & PTSCHED_STATE_SHARED);
	EXPECT_EQ(0, ks_release(fd));
	ASSERT_EQ(0, kill(holder, SIGCONT));
	ks_sign_give(&end);
	EXPECT_EQ(0, ks_wait(holder));
	close(fd);
}

TEST(a_wait_goes_on_after_a_tracer_has_looked)
{
	struct ks_sign ready = ks_sign_new();
	int fd = ks_client(), status;
	pid_t waiter;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, ks_be_patient());
	ASSERT_EQ(0, ks_acquire(fd));
	waiter = fork();
	if (!waiter) {
		int mine = ks_client();

		ks_sign_give(&ready);
		_exit(ks_acquire(mine) != 0);
	}
	ks_sign_await(&ready);
	KS_UNTIL(ks_waiters() == 1);
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, waiter, NULL, NULL));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, waiter, NULL, NULL));
	ASSERT_EQ(waiter, waitpid(waiter, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, waiter, NULL, NULL));
	KS_UNTIL(ks_waiters() == 1);
	EXPECT_EQ(0, ks_release(fd));
	EXPECT_EQ(0, ks_wait(waiter));
	EXPECT_EQ(0, ks_be_impatient());
	close(fd);
}

TEST_HARNESS_MAIN
