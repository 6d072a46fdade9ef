// SPDX-License-Identifier: MIT
/*
 * Whose rights count: those of who calls, and where a program may be made to write to what
 * another has opened, of both. Setuid programs, processes that give up their rights, and
 * the root of another user namespace gain nothing for who stands behind them.
 */
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

enum { NOBODY = 65534 };

/* ---- netlink: who opens a socket, and who writes to it ---- */

/* Connected to the kernel, so that nobody who writes says where to. */
static int open_netlink(void)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	return fd < 0 || connect(fd, (void *)&kernel, sizeof(kernel)) ? -1 : fd;
}

/* As a program does that takes it for its standard output; the kernel's answer. */
static int write_setting(int fd, int family, int command, const struct ks_attr *attrs, int count)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsghdr *answer;
	char buffer[4096];
	int ret = -EIO;

	genlmsg_put(msg, 0, 1, family, 0, NLM_F_REQUEST | NLM_F_ACK, command, PTSCHED_GENL_VERSION);
	for (int i = 0; i < count; i++)
		nla_put(msg, attrs[i].type, attrs[i].size, &attrs[i].value);
	answer = (void *)buffer;
	if (write(fd, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len) > 0 &&
	    read(fd, buffer, sizeof(buffer)) > 0 && answer->nlmsg_type == NLMSG_ERROR)
		ret = ((struct nlmsgerr *)nlmsg_data(answer))->error;
	nlmsg_free(msg);
	return ret;
}

static int family_number(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int family = genl_connect(sock) ? -1 : genl_ctrl_resolve(sock, PTSCHED_GENL_NAME);

	nl_socket_free(sock);
	return family;
}

/* A setting, and a weight, as they are. */
static bool all_settings_are(int expected, int fd, int family)
{
	struct ks_attr alpha = {PTSCHED_A_ALPHA, 4, PTSCHED_ALPHA_MAX};
	struct ks_attr weight[] = {{PTSCHED_A_PID, 4, (uint64_t)getppid()}, {PTSCHED_A_WEIGHT, 4, 0}};

	return write_setting(fd, family, PTSCHED_CMD_SET_DEVICE, &alpha, 1) == expected &&
	       write_setting(fd, family, PTSCHED_CMD_SET_ENTITY, weight, 2) == expected;
}

FIXTURE(roots)
{
	int client, pidfd, family;
};

/* This process is a client and root's. */
FIXTURE_SETUP(roots)
{
	self->client = ks_client();
	self->pidfd = ks_pidfd(getpid());
	self->family = family_number();
	ASSERT_LE(0, self->client);
	ASSERT_LE(0, self->pidfd);
	ASSERT_LT(0, self->family);
}

FIXTURE_TEARDOWN(roots)
{
	close(self->client);
}

/* Run as @uid, which opens, by root, which writes; and the other way round. */
TEST_F(roots, settings_need_the_rights_of_who_opens_and_of_who_writes)
{
	static const struct {
		uid_t opener, writer;
		int expected;
	} cases[] = {{0, 0, 0}, {NOBODY, 0, -EPERM}, {0, NOBODY, -EPERM}, {NOBODY, NOBODY, -EPERM}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int pair[2];
		pid_t opener, writer;

		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
		opener = fork();
		if (!opener) {
			ks_become(cases[i].opener);
			_exit(ks_send_fd(pair[0], open_netlink()) ? 1 : 0);
		}
		EXPECT_EQ(0, ks_wait(opener));
		writer = fork();
		if (!writer) {
			int fd = ks_receive_fd(pair[1]);

			ks_become(cases[i].writer);
			_exit(all_settings_are(cases[i].expected, fd, self->family) ? 0 : 1);
		}
		EXPECT_EQ(0, ks_wait(writer)) TH_LOG("opened by %d, written by %d", cases[i].opener, cases[i].writer);
		close(pair[0]);
		close(pair[1]);
	}
}

/* ---- the device ---- */

/* Of the second device, so that it is in nobody's way. */
static int demand_node(uint64_t node)
{
	struct ks_attr attrs[] = {{PTSCHED_A_DEVICE_ID, 4, 0}, {PTSCHED_A_NODE, 8, node}};
	struct ks_device devices[8];

	if (ks_devices(devices, 8) != 2)
		return -EIO;
	attrs[0].value = devices[1].id;
	return ks_set(PTSCHED_CMD_SET_DEVICE, attrs, 2, NULL, 0, NULL);
}

/* Whether neither another's process nor a device is to be had. @mine: a client; @open: an open file. */
static bool has_no_rights(int mine, int open, int pidfd)
{
	return ks_act_for(mine, PTSCHED_ACT_FOR_PIDFD, pidfd) == -EPERM &&
	       ks_attach(open, KS_DEVICE1, NULL) == -EACCES;
}

TEST_F(roots, who_gave_up_its_rights_has_none)
{
	pid_t child;

	ASSERT_EQ(0, demand_node(PTSCHED_NODE(1, 3)));
	child = fork();
	if (!child) {
		int mine = ks_client(), file = ks_open();

		if (ks_act_for(mine, PTSCHED_ACT_FOR_PIDFD, self->pidfd) ||
		    ks_act_for(mine, PTSCHED_ACT_FOR_PIDFD, -1))
			_exit(1);
		ks_become(NOBODY);
		_exit(has_no_rights(mine, file, self->pidfd) ? 0 : 2);
	}
	EXPECT_EQ(0, ks_wait(child));
	EXPECT_EQ(0, demand_node(0));
}

static int write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int ret = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	close(fd);
	return ret;
}

/* Root there, with all capabilities, and a network of its own. */
static int live_in_namespace(int pidfd, int family)
{
	int mine, fd;

	ks_become(NOBODY);
	/* Else its own files in /proc are root's. */
	prctl(PR_SET_DUMPABLE, 1);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return 77;
	if (write_map("/proc/self/uid_map", "0 65534 1") || geteuid())
		return 1;
	mine = ks_client();
	fd = open_netlink();
	if (!has_no_rights(mine, ks_open(), pidfd))
		return 2;
	if (!all_settings_are(-EPERM, fd, family))
		return 3;
	return setpriority(PRIO_PROCESS, 0, -1) ? 0 : 4;
}

TEST_F(roots, root_of_another_user_namespace_is_nobody_here)
{
	pid_t child;
	int status;

	ASSERT_EQ(0, demand_node(PTSCHED_NODE(1, 3)));
	child = fork();
	if (!child)
		_exit(live_in_namespace(self->pidfd, self->family));
	status = ks_wait(child);
	EXPECT_EQ(0, demand_node(0));
	if (status == 77)
		SKIP(return, "no user namespace can be made here");
	EXPECT_EQ(0, status);
}

/* ---- setuid programs ---- */

#define SETUID_PROGRAM "/tmp/credentials-setuid"

/* This program, with root's rights for whoever executes it. */
static int make_setuid_program(void)
{
	static char buffer[65536];
	int from = open("/proc/self/exe", O_RDONLY), to = open(SETUID_PROGRAM, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t got;

	while ((got = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)got) != got)
			return -EIO;
	if (got || fchmod(to, 04755))
		return -EIO;
	close(from);
	return close(to);
}

/*
 * As the setuid program: argv is its name, a client that it inherits with the turn, and two
 * pipes, by which it says that it is there and is told to go on.
 */
__attribute__((constructor)) static void be_setuid_program(int argc, char **argv)
{
	struct ks_sign there = {{-1, -1}}, go = {{-1, -1}};
	int client;

	if (argc != 4 || strcmp(argv[0], SETUID_PROGRAM))
		return;
	client = atoi(argv[1]);
	there.fd[1] = atoi(argv[2]);
	go.fd[0] = atoi(argv[3]);
	if (geteuid() || getuid() != NOBODY)
		_exit(1);
	/* What it is made to write there by its name or arguments is no call. */
	if (write(client, "text", 4) != -1)
		_exit(2);
	ks_sign_give(&there);
	ks_sign_await(&go);
	_exit(ks_release(client) ? 3 : 0);
}

static void execute_setuid_program(const struct ks_sign *there, const struct ks_sign *go)
{
	char client[16], out[16], in[16];
	int fd;

	ks_become(NOBODY);
	fd = ks_client();
	if (fd < 0 || ks_acquire(fd))
		_exit(90);
	fcntl(fd, F_SETFD, 0);
	snprintf(client, sizeof(client), "%d", fd);
	snprintf(out, sizeof(out), "%d", there->fd[1]);
	snprintf(in, sizeof(in), "%d", go->fd[0]);
	execl(SETUID_PROGRAM, SETUID_PROGRAM, client, out, in, NULL);
	_exit(91);
}

/* Whether a user sees the process. */
static bool is_seen_by(uid_t uid, pid_t pid)
{
	pid_t child = fork();

	if (!child) {
		ks_become(uid);
		_exit(ks_state(pid) >= 0 ? 1 : 0);
	}
	return ks_wait(child) == 1;
}

TEST_F(roots, a_setuid_program_has_the_turn_of_who_executed_it)
{
	struct ks_sign there = ks_sign_new(), go = ks_sign_new();
	struct ks_entity entity;
	int pidfd, other;
	pid_t child;

	ASSERT_EQ(0, make_setuid_program());
	ASSERT_EQ(0, ks_be_patient());
	child = fork();
	if (!child)
		execute_setuid_program(&there, &go);
	ks_sign_await(&there);
	ASSERT_EQ(0, ks_entity(child, &entity));
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, entity.state);
	/* Who executed it pays, and sees it no more than in /proc. */
	EXPECT_EQ(NOBODY, entity.uid);
	EXPECT_FALSE(is_seen_by(NOBODY, child));
	EXPECT_TRUE(is_seen_by(0, child));
	/* It is root's now, for whom nobody but root acts. */
	pidfd = ks_pidfd(child);
	other = fork();
	if (!other) {
		ks_become(NOBODY);
		_exit(ks_act_for(ks_client(), PTSCHED_ACT_FOR_PIDFD, pidfd) == -EPERM ? 0 : 1);
	}
	EXPECT_EQ(0, ks_wait(other));
	EXPECT_EQ(-EAGAIN, ks_try(self->client));
	ks_sign_give(&go);
	EXPECT_EQ(0, ks_wait(child));
	/* The device may wait for a moment for who just had it. */
	EXPECT_EQ(0, ks_acquire(self->client));
	EXPECT_EQ(0, ks_release(self->client));
	EXPECT_EQ(0, ks_be_impatient());
	unlink(SETUID_PROGRAM);
}

TEST_HARNESS_MAIN
