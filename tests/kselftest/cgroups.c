// SPDX-License-Identifier: MIT
/*
 * cgroups as groups: which of them the module knows, what becomes of one that is removed or
 * deep, and who may set what it gets. How time is divided among them the conformance tests
 * say, of module and broker.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

#define CGROUPS "/sys/fs/cgroup"

/* So many times as long as two looks take lies between them: it costs 1 / (4 * LONGER) at most. */
enum { SOMEBODY = 1000, MAX_ACCOUNTS = 256, MANY = 100, FEWER = 20, LONGER = 50 };

static int set_grouping(uint32_t grouping)
{
	struct ks_attr attr = {PTSCHED_A_GROUPING, 4, grouping};

	return ks_set(PTSCHED_CMD_SET_DEVICE, &attr, 1, NULL, 0, NULL);
}

static int set_share_by(int fd, uint32_t share, char *message, size_t size, int *refused)
{
	struct ks_attr attrs[] = {{PTSCHED_A_CGROUP_FD, 4, (uint32_t)fd}, {PTSCHED_A_SHARE, 4, share}};

	return ks_set(PTSCHED_CMD_SET_CGROUP, attrs, 2, message, size, refused);
}

static int set_share(const char *folder, uint32_t share)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = set_share_by(fd, share, NULL, 0, NULL);

	close(fd);
	return ret;
}

static uint64_t number_of(const char *folder)
{
	struct stat status;

	return stat(folder, &status) ? 0 : status.st_ino;
}

/* What the first device knows of a cgroup; whether it does. */
static bool find(uint64_t cgroup, struct ks_account *out)
{
	static struct ks_account all[MAX_ACCOUNTS];
	struct ks_device devices[8];
	int count;

	if (ks_devices(devices, 8) < 1)
		return false;
	count = ks_accounts((int)devices[0].id, all, MAX_ACCOUNTS);
	for (int i = 0; i < count; i++) {
		if (all[i].cgroup != cgroup)
			continue;
		*out = all[i];
		return true;
	}
	return false;
}

static bool is_known(uint64_t cgroup)
{
	struct ks_account account;

	return find(cgroup, &account);
}

/* Whoever comes to a device has some forgotten of whom nothing need be known. */
static void come_and_go(void)
{
	int fd = ks_client();

	if (fd >= 0)
		close(fd);
}

/* This process. */
static int move_to(const char *folder)
{
	return ks_write_file(folder, "cgroup.procs", "0");
}

FIXTURE(cgroups)
{
	char a[64], b[64];
};

FIXTURE_SETUP(cgroups)
{
	snprintf(self->a, sizeof(self->a), CGROUPS "/ptsched-a-%d", getpid());
	snprintf(self->b, sizeof(self->b), CGROUPS "/ptsched-b-%d", getpid());
	ASSERT_EQ(0, mkdir(self->a, 0755));
	ASSERT_EQ(0, mkdir(self->b, 0755));
	ASSERT_EQ(0, set_grouping(PTSCHED_GROUPING_CGROUP));
}

FIXTURE_TEARDOWN(cgroups)
{
	EXPECT_EQ(0, set_grouping(PTSCHED_GROUPING_PROCESS));
	move_to(CGROUPS);
	rmdir(self->a);
	rmdir(self->b);
}

TEST_F(cgroups, a_process_counts_to_the_one_it_is_in_when_it_asks)
{
	uint64_t a = number_of(self->a), b = number_of(self->b);
	struct ks_account account = {0};
	int fd;

	ASSERT_EQ(0, move_to(self->a));
	fd = ks_client();
	ASSERT_LE(0, fd);
	ASSERT_TRUE(find(a, &account));
	EXPECT_EQ(1, account.entities);
	EXPECT_EQ(PTSCHED_SHARE_DEFAULT, account.share);
	EXPECT_EQ(0, account.parent);
	EXPECT_FALSE(is_known(b));

	ASSERT_EQ(0, move_to(self->b));
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ks_release(fd));
	ASSERT_TRUE(find(b, &account));
	EXPECT_EQ(1, account.entities);
	if (find(a, &account))
		EXPECT_EQ(0, account.entities);

	ASSERT_EQ(0, move_to(CGROUPS));
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ks_release(fd));
	if (find(b, &account))
		EXPECT_EQ(0, account.entities);
	close(fd);
}

/* What it counts to is not what it is in while time is divided otherwise. */
TEST_F(cgroups, with_another_grouping_it_counts_to_none)
{
	uint64_t a = number_of(self->a);
	struct ks_account account = {0};
	int fd;

	ASSERT_EQ(0, move_to(self->a));
	fd = ks_client();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_grouping(PTSCHED_GROUPING_USER));
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ks_release(fd));
	if (find(a, &account))
		EXPECT_EQ(0, account.entities);
	close(fd);
}

TEST_F(cgroups, a_share_is_kept_while_the_directory_is_there)
{
	uint64_t a = number_of(self->a);
	struct ks_account account = {0};

	ASSERT_EQ(0, set_share(self->a, 300));
	for (int i = 0; i < 10; i++)
		come_and_go();
	ASSERT_TRUE(find(a, &account));
	EXPECT_EQ(300, account.share);
	EXPECT_EQ(0, account.entities);

	ASSERT_EQ(0, rmdir(self->a));
	KS_UNTIL((come_and_go(), !is_known(a)));
}

TEST_F(cgroups, deeper_ones_count_to_the_last_that_is_a_group)
{
	char path[512], last[512];
	struct ks_account account = {0};
	int fd, depth;

	snprintf(path, sizeof(path), "%s", self->a);
	for (depth = 2; depth <= PTSCHED_CGROUP_DEPTH + 2; depth++) {
		strcat(path, "/d");
		ASSERT_EQ(0, mkdir(path, 0755));
		if (depth == PTSCHED_CGROUP_DEPTH)
			strcpy(last, path);
	}
	ASSERT_EQ(0, move_to(path));
	fd = ks_client();
	ASSERT_LE(0, fd);
	EXPECT_FALSE(is_known(number_of(path)));
	ASSERT_TRUE(find(number_of(last), &account));
	EXPECT_EQ(1, account.entities);
	EXPECT_EQ(-EINVAL, set_share(path, 200));
	EXPECT_EQ(0, set_share(last, 200));
	/* All above it have it in them. */
	ASSERT_TRUE(find(number_of(self->a), &account));
	EXPECT_EQ(1, account.entities);
	close(fd);
	ASSERT_EQ(0, move_to(CGROUPS));
	for (depth = PTSCHED_CGROUP_DEPTH + 2; depth > 1; depth--) {
		ASSERT_EQ(0, rmdir(path));
		*strrchr(path, '/') = '\0';
	}
}

TEST_F(cgroups, what_is_no_cgroup_is_refused)
{
	char text[128];
	int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), refused = 0;

	EXPECT_EQ(-EINVAL, set_share_by(folder, 200, text, sizeof(text), &refused));
	EXPECT_STREQ("not a directory of cgroup2", text);
	EXPECT_EQ(PTSCHED_A_CGROUP_FD, refused);
	close(folder);
	EXPECT_EQ(-EBADF, set_share_by(-1, 200, NULL, 0, NULL));
	EXPECT_EQ(-EINVAL, set_share(CGROUPS, 200));
	EXPECT_EQ(-ERANGE, set_share(self->a, 0));
	EXPECT_EQ(-ERANGE, set_share(self->a, PTSCHED_SHARE_MAX + 1));
	EXPECT_FALSE(is_known(number_of(self->a)));
}

/* As with cpu.weight: to whom one was given may divide it, and does not say what it gets. */
TEST_F(cgroups, who_made_one_sets_its_share)
{
	char inner[128];
	pid_t child;

	snprintf(inner, sizeof(inner), "%s/inner", self->a);
	ASSERT_EQ(0, chown(self->a, SOMEBODY, SOMEBODY));
	child = fork();
	if (!child) {
		ks_become(SOMEBODY);
		_exit(mkdir(inner, 0755) || set_share(inner, 200) ? 1 :
		      set_share(self->a, 200) != -EPERM ? 2 : set_share(self->b, 200) != -EPERM ? 3 : 0);
	}
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_TRUE(is_known(number_of(inner)));
	EXPECT_FALSE(is_known(number_of(self->b)));
	EXPECT_EQ(0, rmdir(inner));
}

TEST_F(cgroups, accounts_are_shown_to_who_may_see_them)
{
	pid_t child;

	ASSERT_EQ(0, set_share(self->a, 300));
	child = fork();
	if (!child) {
		static struct ks_account all[MAX_ACCOUNTS];
		int fd, count;

		ks_become(SOMEBODY);
		fd = ks_client();
		count = ks_accounts(-1, all, MAX_ACCOUNTS);
		for (int i = 0; i < count; i++)
			if (all[i].cgroup || all[i].uid != SOMEBODY)
				_exit(1);
		_exit(fd < 0 || count != 1 ? 2 : 0);
	}
	EXPECT_EQ(0, ks_wait(child));
}

/* One that waits for the turn until it is killed. */
static pid_t fork_waiter(const char *folder)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!move_to(folder))
		ks_acquire(ks_client());
	_exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* The budgets of @n together and of the one that came after these, and when they were read. */
struct look {
	double many, one;
	double began, ended;
};

static struct look look(const pid_t *pids, int n)
{
	static struct ks_entity all[KS_MAX_ENTITIES];
	struct look look = {.began = now()};
	int count = ks_entities(-1, all, KS_MAX_ENTITIES);

	look.ended = now();
	for (int i = 0; i < count; i++)
		for (int j = 0; j <= n; j++)
			if (all[i].pid == (uint32_t)pids[j])
				*(j < n ? &look.many : &look.one) += all[i].budget_ns;
	return look;
}

static double took(const struct look *look)
{
	return look->ended - look->began;
}

/*
 * What @n earn of what all earn while somebody has the turn. A look reads one budget after
 * another, so that it must be short beside what lies between two: of the looks that came so
 * far, the quickest is compared with the last.
 */
static double part_of_many(const pid_t *pids, int n)
{
	struct look first = look(pids, n), last;

	for (;;) {
		last = look(pids, n);
		if (last.began - first.ended >= LONGER * (took(&first) + took(&last)))
			break;
		if (took(&last) < took(&first))
			first = last;
	}
	last.many -= first.many;
	last.one -= first.one;
	return last.many / (last.many + last.one);
}

TEST_F(cgroups, many_in_one_have_no_more_than_one_in_another)
{
	/* The turn is not given back, which is put up with for a while only. */
	int n = ks_is_slow() ? FEWER : MANY, fd = ks_client();
	pid_t pids[MANY + 1];
	double part;

	ASSERT_EQ(0, ks_be_patient());
	ASSERT_EQ(0, ks_acquire(fd));
	for (int i = 0; i <= n; i++)
		pids[i] = fork_waiter(i < n ? self->a : self->b);
	KS_UNTIL(ks_waiters() == n + 1);
	part = part_of_many(pids, n);
	TH_LOG("%d in a cgroup beside one of another: %.4f of their time", n, part);
	EXPECT_LT(fabs(part - 0.5), 0.01);
	EXPECT_EQ(0, ks_page(fd)->state & PTSCHED_STATE_SHARED);
	for (int i = 0; i <= n; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i <= n; i++)
		waitpid(pids[i], NULL, 0);
	close(fd);
	EXPECT_EQ(0, ks_be_impatient());
}

TEST_HARNESS_MAIN
