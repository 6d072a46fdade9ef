// SPDX-License-Identifier: MIT
/*
 * Files, processes and mappings: who owns a client, what ends it, and what the
 * page allows, through fork, exec, passing and close.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

#ifndef MADV_DOFORK
#define MADV_DOFORK 11
#endif

FIXTURE(owner)
{
	int fd;
};

FIXTURE_SETUP(owner)
{
	ASSERT_EQ(0, ks_be_patient());
	self->fd = ks_client();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(owner)
{
	EXPECT_EQ(0, ks_be_impatient());
	close(self->fd);
}

TEST_F(owner, the_page_cannot_be_written)
{
	void *page;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
	EXPECT_EQ(MAP_FAILED, page);
	EXPECT_EQ(EPERM, errno);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, 0);
	EXPECT_EQ(MAP_FAILED, page);
	EXPECT_EQ(EPERM, errno);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(-1, mprotect(page, 4096, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(page, 4096, PROT_READ | PROT_EXEC));
	EXPECT_EQ(0, munmap(page, 4096));
}

TEST_F(owner, the_page_is_one_page)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 8192, PROT_READ, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd, 4096));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(owner, the_page_tells_the_turn)
{
	const volatile struct ptsched_page *page = ks_page(self->fd);

	ASSERT_NE(MAP_FAILED, (void *)page);
	EXPECT_EQ(PTSCHED_VERSION_MAJOR, page->version);
	EXPECT_EQ(sizeof(*page), page->size);
	EXPECT_EQ(0, page->state);
	ASSERT_EQ(0, ks_acquire(self->fd));
	EXPECT_EQ(PTSCHED_STATE_TURN, page->state);
	EXPECT_NE(0, page->turn);
	EXPECT_NE(0, page->granted_ns);
	EXPECT_NE(0, page->inflight_ns);
	EXPECT_EQ(1024, page->weight);
	ASSERT_EQ(0, ks_release(self->fd));
	EXPECT_EQ(0, page->state);
}

TEST_F(owner, the_page_is_not_inherited)
{
	const volatile struct ptsched_page *page = ks_page(self->fd);
	pid_t child;

	ASSERT_NE(MAP_FAILED, (void *)page);
	EXPECT_EQ(-1, madvise((void *)page, 4096, MADV_DOFORK));
	child = fork();
	if (!child) {
		prctl(PR_SET_DUMPABLE, 0);
		_exit((int)page->version);
	}
	EXPECT_EQ(128 + SIGSEGV, ks_wait(child));
}

TEST_F(owner, the_page_survives_the_close)
{
	const volatile struct ptsched_page *page = ks_page(self->fd);

	ASSERT_NE(MAP_FAILED, (void *)page);
	ASSERT_EQ(0, ks_acquire(self->fd));
	ASSERT_EQ(1, ks_count());
	close(self->fd);
	self->fd = -1;
	/* The mapping keeps the file; the turn and the entity are gone all the same. */
	EXPECT_EQ(0, page->state);
	EXPECT_EQ(PTSCHED_VERSION_MAJOR, page->version);
	EXPECT_EQ(0, ks_count());
}

TEST_F(owner, a_child_may_not_use_what_it_inherited)
{
	pid_t child;

	ASSERT_EQ(0, ks_acquire(self->fd));
	child = fork();
	if (!child) {
		struct ptsched_query query = {.size = sizeof(query)};
		struct ptsched_report report = {.size = sizeof(report)};
		struct ptsched_ack ack = {.size = sizeof(ack)};

		if (ks_acquire(self->fd) != -EPERM || ks_release(self->fd) != -EPERM ||
		    ks_act_for(self->fd, PTSCHED_ACT_FOR_PIDFD, -1) != -EPERM ||
		    ks_hand_over(self->fd) != -EPERM ||
		    ks_result(ioctl(self->fd, PTSCHED_IOC_REPORT, &report)) != -EPERM ||
		    ks_result(ioctl(self->fd, PTSCHED_IOC_ACK, &ack)) != -EPERM)
			_exit(1);
		if (ks_attach(self->fd, KS_DEVICE0, NULL) != -EPERM)
			_exit(2);
		_exit(ioctl(self->fd, PTSCHED_IOC_QUERY, &query) ? 3 : 0);
	}
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(0, ks_release(self->fd));
}

TEST_F(owner, a_child_that_closes_changes_nothing)
{
	const volatile struct ptsched_page *page = ks_page(self->fd);
	pid_t child;

	ASSERT_EQ(0, ks_acquire(self->fd));
	child = fork();
	if (!child) {
		close(self->fd);
		_exit(0);
	}
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(PTSCHED_STATE_TURN, page->state);
	EXPECT_EQ(0, ks_release(self->fd));
}

TEST_F(owner, a_child_that_holds_the_file_does_not_hold_the_turn)
{
	struct ks_sign stop = ks_sign_new();
	pid_t child;
	int other;

	ASSERT_EQ(0, ks_acquire(self->fd));
	child = fork();
	if (!child) {
		close(stop.fd[1]);
		ks_sign_await(&stop);
		_exit(0);
	}
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(0, ks_count());
	other = ks_client();
	EXPECT_EQ(0, ks_try(other));
	ks_sign_give(&stop);
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(0, ks_release(other));
	close(other);
}

TEST_F(owner, an_unattached_file_belongs_to_who_attaches)
{
	int fd = ks_open();
	pid_t child = fork();

	if (!child)
		_exit(ks_attach(fd, KS_DEVICE0, NULL) || ks_try(fd) ? 1 : 0);
	EXPECT_EQ(0, ks_wait(child));
	/* The child is dead, and the file was its client. */
	EXPECT_EQ(-EPERM, ks_try(fd));
	EXPECT_EQ(-EPERM, ks_attach(fd, KS_DEVICE0, NULL));
	EXPECT_EQ(0, ks_try(self->fd));
	close(fd);
}

TEST_F(owner, a_passed_descriptor_is_of_no_use)
{
	int pair[2];
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = fork();
	if (!child) {
		int fd;

		close(self->fd);
		fd = ks_receive_fd(pair[1]);
		if (ks_acquire(fd) != -EPERM)
			_exit(1);
		close(fd);
		_exit(0);
	}
	ASSERT_EQ(0, ks_acquire(self->fd));
	ASSERT_EQ(0, ks_send_fd(pair[0], self->fd));
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(0, ks_release(self->fd));
}

TEST_F(owner, a_dead_owner_leaves_nothing_in_a_file_that_lives_on)
{
	int pair[2], fd;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = fork();
	if (!child) {
		fd = ks_client();
		if (fd < 0 || ks_acquire(fd) || ks_send_fd(pair[1], fd))
			_exit(1);
		pause();
	}
	fd = ks_receive_fd(pair[0]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(PTSCHED_ENTITY_HOLDING, ks_state(child));
	kill(child, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, ks_wait(child));
	EXPECT_EQ(-1, ks_state(child));
	EXPECT_EQ(0, ks_try(self->fd));
	close(fd);
}

TEST_F(owner, a_closed_duplicate_ends_the_client)
{
	int copy = dup(self->fd);

	ASSERT_EQ(0, ks_acquire(self->fd));
	close(copy);
	EXPECT_EQ(-EPERM, ks_release(self->fd));
	EXPECT_EQ(-ECANCELED, ks_acquire(self->fd));
	EXPECT_EQ(0, ks_count());
}

static void *wait_for_turn(void *fd)
{
	return (void *)(long)ks_acquire(*(int *)fd);
}

TEST_F(owner, close_cancels_a_waiting_thread)
{
	struct ks_sign holds = ks_sign_new(), stop = ks_sign_new();
	pthread_t thread;
	void *result;
	pid_t child = fork();

	if (!child) {
		int fd = ks_client();

		if (ks_acquire(fd))
			_exit(1);
		ks_sign_give(&holds);
		ks_sign_await(&stop);
		_exit(0);
	}
	ks_sign_await(&holds);
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_turn, &self->fd));
	KS_UNTIL(ks_waiters() == 1);
	close(self->fd);
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(-ECANCELED, (int)(long)result);
	EXPECT_EQ(0, ks_waiters());
	self->fd = -1;
	ks_sign_give(&stop);
	EXPECT_EQ(0, ks_wait(child));
}

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	interrupted |= signal == SIGUSR1;
}

/* Waits for the turn; only SIGUSR1 may interrupt that. */
static int wait_under_signals(const struct ks_sign *told)
{
	struct sigaction action = {.sa_handler = on_signal};
	int fd = ks_client(), ret;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &action, NULL);
	if (ks_acquire(fd) != -EINTR || !interrupted)
		return 1;
	ks_sign_give(told);
	do {
		ret = ks_acquire(fd);
	} while (ret == -EINTR);
	return ret ? 2 : 0;
}

TEST_F(owner, signals_restart_or_interrupt_a_wait)
{
	struct ks_sign holds = ks_sign_new(), stop = ks_sign_new(), told = ks_sign_new();
	struct pollfd poller = {.fd = told.fd[0], .events = POLLIN};
	pid_t holder, waiter;

	holder = fork();
	if (!holder) {
		if (ks_acquire(ks_client()))
			_exit(1);
		ks_sign_give(&holds);
		ks_sign_await(&stop);
		_exit(0);
	}
	ks_sign_await(&holds);
	waiter = fork();
	if (!waiter)
		_exit(wait_under_signals(&told));
	KS_UNTIL(ks_state(waiter) == PTSCHED_ENTITY_WAITING);
	for (int i = 0; i < 100; i++)
		kill(waiter, SIGUSR2);
	KS_UNTIL(ks_state(waiter) == PTSCHED_ENTITY_WAITING);
	EXPECT_EQ(0, poll(&poller, 1, 0));
	/* One that comes between two calls interrupts nothing: again until it is told. */
	KS_UNTIL(kill(waiter, SIGUSR1) || poll(&poller, 1, 0) == 1);
	ks_sign_give(&stop);
	EXPECT_EQ(0, ks_wait(holder));
	EXPECT_EQ(0, ks_wait(waiter));
}

TEST_F(owner, exec_closes_or_keeps)
{
	struct ks_sign go = ks_sign_new();
	pid_t child = fork();

	if (!child) {
		int kept, closed;

		fcntl(go.fd[0], F_SETFD, 0);
		kept = ks_client();
		closed = ks_open();
		if (kept < 0 || ks_attach(closed, KS_DEVICE1, NULL) || ks_acquire(kept))
			_exit(1);
		fcntl(kept, F_SETFD, 0);
		dup2(go.fd[0], 0);
		execl("/bin/busybox", "sh", "-c", "read x", NULL);
		_exit(2);
	}
	/* Both were there before: it holds the turn, and then the one on the second device has gone with exec. */
	KS_UNTIL(ks_state(child) == PTSCHED_ENTITY_HOLDING && ks_count() == 2);
	if (write(go.fd[1], "x\n", 2) != 2)
		abort();
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(1, ks_count());
}

TEST_F(owner, a_second_client_shares_the_turn)
{
	int other = ks_client();
	const volatile struct ptsched_page *page = ks_page(other);

	ASSERT_EQ(0, ks_acquire(self->fd));
	EXPECT_EQ(0, page->state);
	EXPECT_EQ(0, ks_try(other));
	EXPECT_EQ(PTSCHED_STATE_TURN, page->state);
	EXPECT_EQ(0, ks_release(self->fd));
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, ks_state(getpid()));
	EXPECT_EQ(0, ks_release(other));
	EXPECT_EQ(PTSCHED_ENTITY_IDLE, ks_state(getpid()));
	EXPECT_EQ(-EPERM, ks_release(other));
	close(other);
}

/* Dies with a table of files that its child goes on using: nothing is closed. */
static int share_files(void *arg)
{
	const struct ks_sign *stop = arg;

	ks_sign_await(stop);
	return 0;
}

TEST_F(owner, death_behind_a_shared_table_of_files)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct ks_sign stop = ks_sign_new(), told = ks_sign_new();
	pid_t child = fork();

	if (!child) {
		int fd = ks_client();

		if (fd < 0 || ks_acquire(fd))
			_exit(1);
		if (clone(share_files, stack + sizeof(stack), CLONE_FILES | SIGCHLD, &stop) < 0)
			_exit(2);
		ks_sign_give(&told);
		_exit(0);
	}
	ks_sign_await(&told);
	EXPECT_EQ(0, ks_wait(child));
	KS_UNTIL(ks_state(child) == -1);
	EXPECT_EQ(0, ks_try(self->fd));
	ks_sign_give(&stop);
}

TEST_F(owner, poll_tells_of_a_call_back)
{
	const volatile struct ptsched_page *page = ks_page(self->fd);
	struct ptsched_ack ack = {.size = sizeof(ack)};
	struct pollfd poller = {.fd = self->fd, .events = POLLIN | POLLPRI};
	pid_t child;

	ASSERT_EQ(0, poll(&poller, 1, 0));
	ASSERT_EQ(0, ks_acquire(self->fd));
	child = fork();
	if (!child) {
		int fd = ks_client();

		_exit(ks_acquire(fd) || ks_release(fd) ? 1 : 0);
	}
	poller.events = POLLPRI;
	ASSERT_EQ(1, poll(&poller, 1, -1));
	poller.events = POLLIN | POLLPRI;
	ASSERT_EQ(1, poll(&poller, 1, -1));
	EXPECT_EQ(POLLIN | POLLPRI, poller.revents);
	ack.events = page->events;
	EXPECT_TRUE(page->state & PTSCHED_STATE_CALLBACK);
	EXPECT_TRUE(page->state & PTSCHED_STATE_TURN);
	ASSERT_EQ(0, ioctl(self->fd, PTSCHED_IOC_ACK, &ack));
	ASSERT_EQ(1, poll(&poller, 1, 0));
	EXPECT_TRUE(poller.revents & POLLPRI);
	ASSERT_EQ(0, ks_release(self->fd));
	EXPECT_EQ(0, ks_wait(child));
	ack.events = page->events;
	ASSERT_EQ(0, ioctl(self->fd, PTSCHED_IOC_ACK, &ack));
	EXPECT_EQ(0, poll(&poller, 1, 0));
}

TEST_F(owner, a_thread_under_a_turn_is_not_gated_again)
{
	int fds[2] = {self->fd, ks_client()};
	const volatile struct ptsched_page *page = ks_page(self->fd);
	struct pollfd poller = {.fd = self->fd, .events = POLLPRI};
	pid_t child;

	ASSERT_EQ(0, ks_acquire(fds[0]));
	child = fork();
	if (!child) {
		int fd = ks_client();

		_exit(ks_acquire(fd) || ks_release(fd) ? 1 : 0);
	}
	ASSERT_EQ(1, poll(&poller, 1, -1));
	EXPECT_TRUE(page->state & PTSCHED_STATE_CALLBACK);
	EXPECT_EQ(0, ks_try(fds[1]));
	EXPECT_EQ(0, ks_release(fds[1]));
	EXPECT_EQ(0, ks_release(fds[0]));
	EXPECT_EQ(0, ks_wait(child));
	close(fds[1]);
}

static void *take_a_turn(void *fd)
{
	int ret = ks_acquire(*(int *)fd);

	return (void *)(long)(ret ? ret : ks_release(*(int *)fd));
}

TEST_F(owner, another_thread_waits_for_a_called_back_turn_to_end)
{
	int second = ks_client();
	struct pollfd poller = {.fd = self->fd, .events = POLLPRI};
	pthread_t thread;
	void *result;
	pid_t child;

	ASSERT_EQ(0, ks_acquire(self->fd));
	child = fork();
	if (!child) {
		int fd = ks_client();

		_exit(ks_acquire(fd) || ks_release(fd) ? 1 : 0);
	}
	ASSERT_EQ(1, poll(&poller, 1, -1));
	/* Before or after the release, before or after the child, which may have to repay a debt. */
	ASSERT_EQ(0, pthread_create(&thread, NULL, take_a_turn, &second));
	EXPECT_EQ(0, ks_release(self->fd));
	EXPECT_EQ(0, ks_wait(child));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(NULL, result);
	close(second);
}

static int64_t budget_of(pid_t pid)
{
	struct ks_entity e;

	return ks_entity(pid, &e) ? 0 : e.budget_ns;
}

TEST_F(owner, a_forked_child_starts_with_its_parents_debt)
{
	struct nl_sock *events = ks_events_open();
	struct ks_event event;
	pid_t waiter, child;

	ASSERT_NE(NULL, events);
	ASSERT_EQ(0, ks_acquire(self->fd));
	waiter = fork();
	if (!waiter) {
		int fd = ks_client();

		_exit(ks_acquire(fd) || ks_release(fd) ? 1 : 0);
	}
	/* It does not let go while another waits: each such instant is debited. */
	KS_UNTIL(budget_of(getpid()) < -5000000);
	child = fork();
	if (!child)
		_exit(ks_client() < 0);
	do {
		ASSERT_EQ(0, ks_events_next(events, &event));
	} while (event.event != PTSCHED_EVENT_ATTACH || event.pid != (uint32_t)child);
	EXPECT_LT(event.budget_ns, 0);
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(0, ks_release(self->fd));
	EXPECT_EQ(0, ks_wait(waiter));
	ks_events_close(events);
}

TEST_HARNESS_MAIN
