// SPDX-License-Identifier: MIT
/*
 * Limits on memory, descriptors and processes: who asks for something pays for it and is
 * told why it is refused, keeps what it has, and is in nobody's way.
 */
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

#define CGROUPS "/sys/fs/cgroup"

static long read_number(const char *folder, const char *name)
{
	char path[256];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

/* Where the fixture has found none; to skip a test there would not end it. */
#define NEEDS_GROUPS								\
	do {									\
		if (!*self->folder)						\
			SKIP(return, "no control groups of memory and processes "	\
				     "(MEMCG, CGROUP_PIDS)");			\
	} while (0)

FIXTURE(group)
{
	char folder[64];
	struct ks_sign ready, go;
};

FIXTURE_SETUP(group)
{
	if (ks_write_file(CGROUPS, "cgroup.subtree_control", "+memory +pids"))
		return;
	ASSERT_EQ(0, ks_be_patient());
	snprintf(self->folder, sizeof(self->folder), CGROUPS "/ptsched-%d", getpid());
	ASSERT_EQ(0, mkdir(self->folder, 0755));
	self->ready = ks_sign_new();
	self->go = ks_sign_new();
}

FIXTURE_TEARDOWN(group)
{
	if (!*self->folder)
		return;
	KS_UNTIL(!rmdir(self->folder) || errno != EBUSY);
	EXPECT_EQ(0, ks_be_impatient());
}

/* A process there, with as many descriptors as it likes. */
static pid_t fork_into(const char *folder)
{
	struct rlimit files = {65536, 65536};
	pid_t pid = fork();

	if (!pid && (setrlimit(RLIMIT_NOFILE, &files) || ks_write_file(folder, "cgroup.procs", "0")))
		_exit(90);
	return pid;
}

/* Opens until it is refused; how many that were. */
static int open_many(int *error)
{
	int count = 0;

	while ((*error = ks_open()) >= 0)
		count++;
	return count;
}

enum stage { BEGINNING, AT_LIMIT, GOING_ON };

/*
 * At its limit it neither loses what it has nor is it in the way. From there on it needs no
 * memory of its own, since nobody may be killed for it, nor a pipe.
 */
static int live_at_limit(volatile enum stage *stage)
{
	enum { LIMIT = 8 << 20 };
	int fd = ks_client(), spare = ks_open(), error, count;

	if (fd < 0 || spare < 0 || mlockall(MCL_CURRENT | MCL_FUTURE) ||
	    ks_write_file("/proc/self", "oom_score_adj", "-1000"))
		return 1;
	count = open_many(&error);
	if (error != -ENOMEM)
		return 2;
	/* Each has a page. */
	if (count >= LIMIT / sysconf(_SC_PAGESIZE))
		return 3;
	*stage = AT_LIMIT;
	KS_UNTIL(*stage == GOING_ON);
	if (ks_acquire(fd) || ks_release(fd))
		return 4;
	for (int i = 0; i < count; i++)
		close(spare + 1 + i);
	return ks_attach(spare, KS_DEVICE0, NULL) ? 5 : ks_acquire(spare) ? 6 : 0;
}

TEST_F(group, at_its_limit_of_memory_a_process_keeps_what_it_has)
{
	volatile enum stage *stage =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int fd;

	NEEDS_GROUPS;
	ASSERT_NE(MAP_FAILED, (void *)stage);
	*stage = BEGINNING;
	ASSERT_EQ(0, ks_write_file(self->folder, "memory.max", "8388608"));
	child = fork_into(self->folder);
	if (!child)
		_exit(live_at_limit(stage));
	KS_UNTIL(*stage == AT_LIMIT || waitpid(child, NULL, WNOHANG));
	ASSERT_EQ(AT_LIMIT, *stage);
	fd = ks_client();
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ks_release(fd));
	*stage = GOING_ON;
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(1, ks_count());
	close(fd);
}

TEST_F(group, who_is_killed_for_its_memory_leaves_its_turn)
{
	pid_t child;
	int fd, error;

	NEEDS_GROUPS;
	ASSERT_EQ(0, ks_write_file(self->folder, "memory.max", "8388608"));
	child = fork_into(self->folder);
	if (!child) {
		fd = ks_client();
		if (ks_acquire(fd))
			_exit(1);
		ks_sign_give(&self->ready);
		ks_sign_await(&self->go);
		open_many(&error);
		_exit(2);
	}
	ks_sign_await(&self->ready);
	fd = ks_client();
	ASSERT_EQ(-EAGAIN, ks_try(fd));
	ks_sign_give(&self->go);
	EXPECT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(128 + SIGKILL, ks_wait(child));
	EXPECT_EQ(1, ks_count());
	EXPECT_EQ(0, ks_release(fd));
	close(fd);
}

/* Devices that nobody knew: who names them first has them made. */
static int attach_to_instances(const char *folder)
{
	enum { COUNT = 50, LEAST = 16384 };
	long before;
	cpu_set_t one;

	/* What is charged in advance is so for each processor. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	before = read_number(folder, "memory.current");
	for (int i = 0; i < COUNT; i++) {
		char name[PTSCHED_NAME_LEN];

		snprintf(name, sizeof(name), "MIG-00000000-0000-0000-0001-%012x", (unsigned int)i);
		if (ks_attach(ks_open(), name, NULL))
			return 2;
	}
	return read_number(folder, "memory.current") - before < COUNT * LEAST ? 3 : 0;
}

TEST_F(group, devices_are_charged_to_who_has_them_made)
{
	pid_t child;

	NEEDS_GROUPS;
	child = fork_into(self->folder);
	if (!child)
		_exit(attach_to_instances(self->folder));
	EXPECT_EQ(0, ks_wait(child));
}

TEST_F(group, no_process_more_is_needed_for_a_turn)
{
	pid_t child;
	int fd = ks_client();

	NEEDS_GROUPS;
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ks_write_file(self->folder, "pids.max", "1"));
	child = fork_into(self->folder);
	if (!child) {
		pid_t pid = fork();
		int mine;

		if (pid >= 0 || errno != EAGAIN)
			_exit(pid ? 1 : 0);
		mine = ks_client();
		_exit(ks_acquire(mine) ? 2 : ks_release(mine) ? 3 : 0);
	}
	KS_UNTIL(ks_state(child) == PTSCHED_ENTITY_WAITING || kill(child, 0));
	ASSERT_EQ(0, ks_release(fd));
	EXPECT_EQ(0, ks_wait(child));
	close(fd);
}

static int set_limit(int resource, rlim_t limit)
{
	struct rlimit old;

	getrlimit(resource, &old);
	old.rlim_cur = limit;
	return setrlimit(resource, &old);
}

TEST(a_process_without_descriptors_keeps_its_turn)
{
	struct rlimit old;
	int fd = ks_client();

	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	ASSERT_EQ(0, set_limit(RLIMIT_NOFILE, (rlim_t)fd + 1));
	EXPECT_EQ(-EMFILE, ks_open());
	EXPECT_EQ(0, ks_release(fd));
	EXPECT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, set_limit(RLIMIT_NOFILE, old.rlim_cur));
	EXPECT_LE(0, ks_open());
}

TEST(without_room_for_the_page_there_are_turns)
{
	int fd = ks_client();
	const volatile struct ptsched_page *page;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_limit(RLIMIT_AS, 4096));
	EXPECT_EQ(MAP_FAILED, (void *)ks_page(fd));
	EXPECT_EQ(ENOMEM, errno);
	EXPECT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(0, ks_release(fd));
	ASSERT_EQ(0, set_limit(RLIMIT_AS, RLIM_INFINITY));
	page = ks_page(fd);
	ASSERT_NE(MAP_FAILED, (void *)page);
	ASSERT_EQ(0, ks_acquire(fd));
	EXPECT_TRUE(page->state & PTSCHED_STATE_TURN);
}

/* A program that is never to wait for the disk: its pages are the kernel's, which has none there. */
TEST(the_page_counts_not_as_locked_memory)
{
	pid_t child = fork();

	if (!child) {
		int fds[2] = {ks_client(), ks_client()};
		struct rlimit one_page = {4096, 4096};

		if (setrlimit(RLIMIT_MEMLOCK, &one_page) || setgroups(0, NULL) ||
		    setresuid(65534, 65534, 65534) || mlockall(MCL_FUTURE))
			_exit(1);
		for (int i = 0; i < 2; i++) {
			const volatile struct ptsched_page *page = ks_page(fds[i]);

			if (page == MAP_FAILED || page->version != PTSCHED_VERSION_MAJOR)
				_exit(2 + i);
		}
		_exit(0);
	}
	EXPECT_EQ(0, ks_wait(child));
}

TEST_HARNESS_MAIN
