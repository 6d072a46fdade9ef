// SPDX-License-Identifier: MIT
/* Acting for another process: who may, who is charged, and what its end does. */
#include <grp.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

enum { NOBODY = 65534 };

/* An ordinary user without capabilities, until become_root(). */
static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, 0) || setresuid(uid, uid, 0))
		abort();
}

static void become_root(void)
{
	if (setresuid(0, 0, 0) || setresgid(0, 0, 0))
		abort();
}

/* As root sees it. */
static int state_of(pid_t pid)
{
	uid_t uid = geteuid();
	int state;

	become_root();
	state = ks_state(pid);
	if (uid)
		become(uid);
	return state;
}

FIXTURE(proxy)
{
	struct ks_sign ready;
	int pidfd;
	pid_t requester;
};

/* The requester: user nobody, nice 10, a client on the device. */
FIXTURE_SETUP(proxy)
{
	ASSERT_EQ(0, ks_be_patient());
	self->ready = ks_sign_new();
	self->requester = fork();
	if (!self->requester) {
		if (setpriority(PRIO_PROCESS, 0, 10))
			_exit(1);
		become(NOBODY);
		if (ks_client() < 0)
			_exit(2);
		ks_sign_give(&self->ready);
		for (;;)
			pause();
	}
	ks_sign_await(&self->ready);
	self->pidfd = ks_pidfd(self->requester);
	ASSERT_LE(0, self->pidfd);
}

FIXTURE_TEARDOWN(proxy)
{
	become_root();
	EXPECT_EQ(0, ks_be_impatient());
	kill(self->requester, SIGKILL);
	waitpid(self->requester, NULL, 0);
}

static void end_requester(pid_t requester)
{
	kill(requester, SIGKILL);
	waitpid(requester, NULL, 0);
}

TEST_F(proxy, the_requester_is_granted_and_charged)
{
	int fd;

	become(NOBODY);
	fd = ks_client();
	ASSERT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd));
	ASSERT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(110, ks_page(fd)->weight);
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, state_of(self->requester));
	EXPECT_EQ(PTSCHED_ENTITY_IDLE, state_of(getpid()));
	EXPECT_EQ(-EBUSY, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, -1));
	ASSERT_EQ(0, ks_release(fd));
	EXPECT_EQ(PTSCHED_ENTITY_IDLE, state_of(self->requester));
	ASSERT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, -1));
	ASSERT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(1024, ks_page(fd)->weight);
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, state_of(getpid()));
}

TEST_F(proxy, a_process_without_a_client_can_be_a_requester)
{
	pid_t child;
	int fd, pidfd;

	become(NOBODY);
	child = fork();
	if (!child)
		for (;;)
			pause();
	pidfd = ks_pidfd(child);
	fd = ks_client();
	EXPECT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, pidfd));
	EXPECT_EQ(PTSCHED_ENTITY_IDLE, state_of(child));
	EXPECT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, -1));
	EXPECT_EQ(-1, state_of(child));
	end_requester(child);
}

TEST_F(proxy, another_users_process_is_refused)
{
	int fd;

	become(NOBODY - 1);
	fd = ks_client();
	EXPECT_EQ(-EPERM, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd));
}

TEST_F(proxy, a_heavier_process_is_refused)
{
	int fd;

	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 11));
	become(NOBODY);
	fd = ks_client();
	EXPECT_EQ(-EPERM, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd));
}

TEST_F(proxy, the_same_weight_is_allowed)
{
	int fd;

	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
	become(NOBODY);
	fd = ks_client();
	EXPECT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd));
}

TEST_F(proxy, the_administrator_may_do_both)
{
	int fd;

	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 19));
	fd = ks_client();
	EXPECT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd));
}

TEST_F(proxy, descriptors_of_other_kinds)
{
	int fd = ks_client(), null = open("/dev/null", O_RDWR), unattached = ks_open();
	int called_pidfd = open("/tmp/[pidfd]", O_RDWR | O_CREAT, 0600);
	int elsewhere = ks_open();

	ASSERT_LE(0, called_pidfd);
	ASSERT_EQ(0, ks_attach(elsewhere, KS_DEVICE1, NULL));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, null));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, fd));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, null));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, self->pidfd));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, unattached));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, elsewhere));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, called_pidfd));
	EXPECT_EQ(-EINVAL, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, eventfd(0, EFD_CLOEXEC)));
	EXPECT_EQ(-EBADF, ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, 1000));
	EXPECT_EQ(-EBADF, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, -2));
	EXPECT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, fd));
}

TEST_F(proxy, a_requester_that_is_gone)
{
	int fd = ks_client();

	end_requester(self->requester);
	EXPECT_EQ(-ESRCH, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd));
}

TEST_F(proxy, the_end_of_the_requester_leaves_the_turn_to_its_proxy)
{
	int fd = ks_client();

	ASSERT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd));
	ASSERT_EQ(0, ks_acquire(fd));
	end_requester(self->requester);
	EXPECT_EQ(PTSCHED_STATE_TURN,
		  ks_page(fd)->state & (PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK));
	ASSERT_EQ(0, ks_release(fd));
	/* From then on it acts for itself. */
	EXPECT_EQ(1, ks_count());
	ASSERT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, state_of(getpid()));
}

TEST_F(proxy, the_end_of_the_requester_does_not_end_a_wait)
{
	struct ks_sign holds = ks_sign_new(), stop = ks_sign_new();
	pid_t holder = fork(), waiter;

	if (!holder) {
		int fd = ks_client();

		if (ks_acquire(fd))
			_exit(1);
		ks_sign_give(&holds);
		ks_sign_await(&stop);
		_exit(0);
	}
	ks_sign_await(&holds);
	waiter = fork();
	if (!waiter) {
		int fd = ks_client();

		if (ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd))
			_exit(1);
		_exit(ks_acquire(fd) || ks_release(fd) ? 2 : 0);
	}
	KS_UNTIL(state_of(self->requester) == PTSCHED_ENTITY_WAITING);
	end_requester(self->requester);
	KS_UNTIL(state_of(waiter) == PTSCHED_ENTITY_WAITING);
	EXPECT_EQ(-1, state_of(self->requester));
	ks_sign_give(&stop);
	EXPECT_EQ(0, ks_wait(holder));
	EXPECT_EQ(0, ks_wait(waiter));
}

TEST_F(proxy, the_end_of_a_proxy_ends_its_turn)
{
	pid_t child = fork();

	if (!child) {
		int fd = ks_client();

		_exit(ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, self->pidfd) || ks_acquire(fd));
	}
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(PTSCHED_ENTITY_IDLE, state_of(self->requester));
	EXPECT_EQ(-1, state_of(child));
}

TEST_F(proxy, a_handed_over_client_needs_no_permission)
{
	int pair[2], fd, theirs;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = fork();
	if (!child) {
		/* Another user, and heavier than who will act for it. */
		become(NOBODY);
		fd = ks_client();
		if (fd < 0 || ks_hand_over(fd) || ks_send_fd(pair[1], fd))
			_exit(1);
		for (;;)
			pause();
	}
	theirs = ks_receive_fd(pair[0]);
	ASSERT_LE(0, theirs);
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 19));
	become(NOBODY - 1);
	fd = ks_client();
	EXPECT_EQ(0, ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, theirs));
	ASSERT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(1024, ks_page(fd)->weight);
	ASSERT_EQ(0, ks_release(fd));
	become_root();
	end_requester(child);
}

TEST_F(proxy, an_inherited_client_is_not_handed_over)
{
	pid_t child;
	int mine;

	become(NOBODY);
	mine = ks_client();
	ASSERT_LE(0, mine);
	for (int handed_over = 0; handed_over < 2; handed_over++) {
		if (handed_over)
			ASSERT_EQ(0, ks_hand_over(mine));
		child = fork();
		if (!child) {
			/* Of the same user, and lighter. */
			int fd = setpriority(PRIO_PROCESS, 0, 19) ? -1 : ks_client();
			int ret = ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, mine);

			_exit(ret == (handed_over ? 0 : -EPERM) ? 0 : 1);
		}
		EXPECT_EQ(0, ks_wait(child));
	}
	become_root();
}

TEST_HARNESS_MAIN
