// SPDX-License-Identifier: MIT
/*
 * A GPU that is taken out of the machine under its clients. The VM has display
 * controllers, which are absent (removed) outside of this program and pci.sh.
 */
#include <stdio.h>

#include "harness.h"
#include "ks.h"
#include "ks_pci.h"

static bool sleeps(pid_t pid)
{
	char name[64], state;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	return scan(name, "%*d (%*[^)]) %c", &state) && state == 'S';
}

FIXTURE(gpu)
{
	char address[PTSCHED_NAME_LEN];
	int holder;
};

FIXTURE_SETUP(gpu)
{
	self->holder = -1;
	ASSERT_EQ(0, say_to(BUS "rescan"));
	find_gpu(self->address, sizeof(self->address));
	ASSERT_NE('\0', self->address[0]);
	self->holder = ks_open();
	ASSERT_LE(0, self->holder);
	ASSERT_EQ(0, ks_attach(self->holder, self->address, NULL));
	ASSERT_EQ(0, ks_acquire(self->holder));
}

FIXTURE_TEARDOWN(gpu)
{
	if (self->holder >= 0)
		close(self->holder);
	unplug_all();
}

TEST_F(gpu, the_holder_is_told)
{
	const volatile struct ptsched_page *page = ks_page(self->holder);
	/* Nothing but the hang-up, which needs no asking for. */
	struct pollfd hang_up = {.fd = self->holder};

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(PTSCHED_STATE_TURN, page->state & (PTSCHED_STATE_TURN | PTSCHED_STATE_DEAD));
	EXPECT_EQ(0, poll(&hang_up, 1, 0));
	ASSERT_EQ(0, unplug(self->address));
	EXPECT_EQ(PTSCHED_STATE_DEAD, page->state & PTSCHED_STATE_DEAD);
	EXPECT_EQ(1, poll(&hang_up, 1, 0));
	EXPECT_EQ(POLLHUP, hang_up.revents & POLLHUP);
	EXPECT_EQ(0, ks_release(self->holder));
	EXPECT_EQ(-ENODEV, ks_acquire(self->holder));
	EXPECT_EQ(-ENODEV, ks_act_for(self->holder, PTSCHED_ACT_FOR_PIDFD, -1));
}

TEST_F(gpu, who_waits_gets_an_error)
{
	struct ks_sign attached = ks_sign_new();
	pid_t waiter = fork();

	if (waiter == 0) {
		int fd = ks_open();

		if (fd < 0 || ks_attach(fd, self->address, NULL))
			_exit(1);
		ks_sign_give(&attached);
		_exit(ks_acquire(fd) == -ENODEV ? 0 : 2);
	}
	ks_sign_await(&attached);
	KS_UNTIL(sleeps(waiter));
	ASSERT_EQ(0, unplug(self->address));
	EXPECT_EQ(0, ks_wait(waiter));
}

TEST_F(gpu, who_polls_is_woken)
{
	struct ks_sign begun = ks_sign_new();
	pid_t poller = fork();

	if (poller == 0) {
		int fd = ks_open();
		struct pollfd hang_up = {.fd = fd};

		if (fd < 0 || ks_attach(fd, self->address, NULL))
			_exit(1);
		ks_sign_give(&begun);
		_exit(poll(&hang_up, 1, -1) == 1 && hang_up.revents & POLLHUP ? 0 : 2);
	}
	ks_sign_await(&begun);
	KS_UNTIL(sleeps(poller));
	ASSERT_EQ(0, unplug(self->address));
	EXPECT_EQ(0, ks_wait(poller));
}

TEST_F(gpu, it_can_come_back)
{
	struct ptsched_attach before, after;
	char address[sizeof(self->address)];
	int fd = ks_open();

	ASSERT_EQ(0, ks_attach(fd, self->address, &before));
	ASSERT_EQ(0, unplug(self->address));
	close(fd);
	fd = ks_open();
	EXPECT_EQ(-ENODEV, ks_attach(fd, self->address, NULL));
	ASSERT_EQ(0, say_to(BUS "rescan"));
	find_gpu(address, sizeof(address));
	EXPECT_STREQ(self->address, address);
	EXPECT_EQ(0, ks_attach(fd, self->address, &after));
	EXPECT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(-ENODEV, ks_acquire(self->holder));
	close(fd);
}

TEST_F(gpu, unplugged_under_load)
{
	enum { CLIENTS = 4, TIMES = 20 };
	pid_t clients[CLIENTS];

	EXPECT_EQ(0, ks_release(self->holder));
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = fork();
		if (clients[i])
			continue;
		for (int ended = 0; ended < TIMES;) {
			int fd = ks_open();

			KS_UNTIL(ks_attach(fd, self->address, NULL) != -ENODEV);
			while (!ks_acquire(fd) && !ks_release(fd))
				;
			ended++;
			close(fd);
		}
		_exit(0);
	}
	for (int left = CLIENTS; left;) {
		unplug(self->address);
		say_to(BUS "rescan");
		usleep(5000);
		for (int i = 0; i < CLIENTS; i++)
			if (clients[i] && waitpid(clients[i], NULL, WNOHANG) == clients[i]) {
				clients[i] = 0;
				left--;
			}
	}
}

TEST_HARNESS_MAIN
