// SPDX-License-Identifier: MIT
/* Generic netlink: dumps, settings and events, and nice as dumps show it. */
#include <grp.h>
#include <netlink/genl/genl.h>
#include <netlink/socket.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

TEST(devices)
{
	struct ks_device d[8];

	ASSERT_EQ(2, ks_devices(d, 8));
	EXPECT_STREQ("ffff:01:00.0", d[0].name);
	EXPECT_STREQ("ffff:02:00.0", d[1].name);
	EXPECT_STREQ("GPU-00000000-0000-0000-0000-000000000001", d[0].uuid);
	EXPECT_STREQ("GPU-00000000-0000-0000-0000-000000000002", d[1].uuid);
	EXPECT_NE(d[0].id, d[1].id);
	EXPECT_EQ(PTSCHED_POLICY_WEIGHTED, d[0].policy);
	EXPECT_EQ(0, d[0].many);
	EXPECT_EQ(0, d[0].entities);
}

TEST(an_entity)
{
	struct ptsched_attach attached;
	int fd = ks_open(), fd2 = ks_client();
	struct ks_entity e;

	ASSERT_EQ(0, ks_attach(fd, KS_DEVICE0, &attached));
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ks_entity(getpid(), &e));
	EXPECT_EQ(attached.device_id, e.device_id);
	EXPECT_EQ(PTSCHED_ENTITY_HOLDING, e.state);
	EXPECT_EQ(getuid(), e.uid);
	EXPECT_EQ(2, e.clients);
	EXPECT_EQ(1, e.turns);
	EXPECT_EQ(0, e.nice);
	EXPECT_EQ(1024, e.weight);
	EXPECT_STREQ("netlink", e.comm);
	close(fd2);
}

TEST(nice_is_what_it_is_now)
{
	struct ks_entity e;

	ASSERT_LE(0, ks_client());
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, 19));
	ASSERT_EQ(0, ks_entity(getpid(), &e));
	EXPECT_EQ(19, e.nice);
	EXPECT_EQ(15, e.weight);
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, -20));
	ASSERT_EQ(0, ks_entity(getpid(), &e));
	EXPECT_EQ(-20, e.nice);
	EXPECT_EQ(88761, e.weight);
}

static void attach_and_stay(const struct ks_sign *ready)
{
	if (ks_client() < 0)
		_exit(1);
	ks_sign_give(ready);
	for (;;)
		pause();
}

/* More than fit into one message of a dump, and each exactly once. */
TEST(a_dump_in_several_parts)
{
	enum { MANY = 120 };
	static struct ks_entity all[KS_MAX_ENTITIES];
	struct ks_sign ready = ks_sign_new();
	pid_t children[MANY];
	int seen[MANY] = {0};
	int count;

	for (int i = 0; i < MANY; i++) {
		children[i] = fork();
		ASSERT_LE(0, children[i]);
		if (!children[i])
			attach_and_stay(&ready);
	}
	for (int i = 0; i < MANY; i++)
		ks_sign_await(&ready);
	count = ks_entities(-1, all, KS_MAX_ENTITIES);
	ASSERT_EQ(MANY, count);
	for (int i = 0; i < count; i++)
		for (int j = 0; j < MANY; j++)
			seen[j] += all[i].pid == (uint32_t)children[j];
	for (int i = 0; i < MANY; i++) {
		EXPECT_EQ(1, seen[i]);
		kill(children[i], SIGKILL);
		EXPECT_EQ(128 + SIGKILL, ks_wait(children[i]));
	}
	EXPECT_EQ(0, ks_count());
}

TEST(entities_of_one_device)
{
	static struct ks_entity all[KS_MAX_ENTITIES];
	struct ks_device d[8];
	int fd = ks_open();

	ASSERT_EQ(2, ks_devices(d, 8));
	ASSERT_EQ(0, ks_attach(fd, KS_DEVICE1, NULL));
	EXPECT_EQ(0, ks_entities((int)d[0].id, all, KS_MAX_ENTITIES));
	EXPECT_EQ(1, ks_entities((int)d[1].id, all, KS_MAX_ENTITIES));
	EXPECT_EQ(-ENODEV, ks_entities(4711, all, KS_MAX_ENTITIES));
}

struct refusal {
	struct ks_attr attr;
	int error;
};

TEST(settings_out_of_their_range)
{
	static const struct refusal refusals[] = {
	    {{PTSCHED_A_POLICY, 4, 3}, -ERANGE},
	    {{PTSCHED_A_IDLE_SHARING, 1, 2}, -ERANGE},
	    {{PTSCHED_A_MANY, 1, 255}, -ERANGE},
	    {{PTSCHED_A_SLICE_NS, 8, PTSCHED_SLICE_MIN_NS - 1}, -ERANGE},
	    {{PTSCHED_A_SLICE_NS, 8, PTSCHED_SLICE_MAX_NS + 1}, -ERANGE},
	    {{PTSCHED_A_GRACE_NS, 8, PTSCHED_GRACE_MAX_NS + 1}, -ERANGE},
	    {{PTSCHED_A_DRAIN_NS, 8, PTSCHED_DRAIN_MIN_NS - 1}, -ERANGE},
	    {{PTSCHED_A_DRAIN_NS, 8, PTSCHED_DRAIN_MAX_NS + 1}, -ERANGE},
	    {{PTSCHED_A_INFLIGHT_NS, 8, PTSCHED_INFLIGHT_MIN_NS - 1}, -ERANGE},
	    {{PTSCHED_A_INFLIGHT_NS, 8, ~0ULL}, -ERANGE},
	    {{PTSCHED_A_ALPHA, 4, 0}, -ERANGE},
	    {{PTSCHED_A_ALPHA, 4, PTSCHED_ALPHA_MAX + 1}, -ERANGE},
	};
	struct ks_device before[8], after[8];
	char message[128];
	int refused;

	ASSERT_EQ(2, ks_devices(before, 8));
	for (int i = 0; i < COUNT(refusals); i++) {
		/* One that is in order goes first, and is not applied. */
		struct ks_attr attrs[] = {{PTSCHED_A_DEVICE_ID, 4, before[0].id}, {0}, {0}};

		attrs[1] = (struct ks_attr){PTSCHED_A_SLICE_NS, 8, 5000000};
		attrs[2] = refusals[i].attr;
		if (attrs[2].type == PTSCHED_A_SLICE_NS)
			attrs[1] = (struct ks_attr){PTSCHED_A_ALPHA, 4, 7};
		EXPECT_EQ(refusals[i].error,
			  ks_set(PTSCHED_CMD_SET_DEVICE, attrs, 3, message, sizeof(message), &refused));
		EXPECT_EQ(refusals[i].attr.type, refused);
		EXPECT_NE('\0', message[0]);
	}
	ASSERT_EQ(2, ks_devices(after, 8));
	EXPECT_EQ(0, memcmp(&before[0], &after[0], sizeof(before[0])));
}

TEST(settings_of_one_device_and_of_all)
{
	struct ks_device before[8], after[8];
	struct ks_attr one[] = {{PTSCHED_A_DEVICE_ID, 4, 0}, {PTSCHED_A_POLICY, 4, PTSCHED_POLICY_NONE},
				{PTSCHED_A_SLICE_NS, 8, 123456789}};
	struct ks_attr all[] = {{PTSCHED_A_POLICY, 4, 0}, {PTSCHED_A_IDLE_SHARING, 1, 0},
				{PTSCHED_A_MANY, 1, 1}, {PTSCHED_A_SLICE_NS, 8, 0},
				{PTSCHED_A_GRACE_NS, 8, 0}, {PTSCHED_A_DRAIN_NS, 8, 4000000},
				{PTSCHED_A_INFLIGHT_NS, 8, 50000}, {PTSCHED_A_ALPHA, 4, 500}};

	ASSERT_EQ(2, ks_devices(before, 8));
	one[0].value = before[1].id;
	ASSERT_EQ(0, ks_set(PTSCHED_CMD_SET_DEVICE, one, COUNT(one), NULL, 0, NULL));
	ASSERT_EQ(2, ks_devices(after, 8));
	EXPECT_EQ(before[0].slice_ns, after[0].slice_ns);
	EXPECT_EQ(123456789, after[1].slice_ns);
	EXPECT_EQ(PTSCHED_POLICY_NONE, after[1].policy);
	all[3].value = before[0].slice_ns;
	ASSERT_EQ(0, ks_set(PTSCHED_CMD_SET_DEVICE, all, COUNT(all), NULL, 0, NULL));
	ASSERT_EQ(2, ks_devices(after, 8));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(PTSCHED_POLICY_WEIGHTED, after[i].policy);
		EXPECT_EQ(0, after[i].idle_sharing);
		EXPECT_EQ(1, after[i].many);
		EXPECT_EQ(0, after[i].grace_ns);
		EXPECT_EQ(4000000, after[i].drain_ns);
		EXPECT_EQ(50000, after[i].inflight_ns);
		EXPECT_EQ(500, after[i].alpha);
	}
	all[1].value = before[0].idle_sharing;
	all[2].value = before[0].many;
	all[4].value = before[0].grace_ns;
	all[5].value = before[0].drain_ns;
	all[6].value = before[0].inflight_ns;
	all[7].value = before[0].alpha;
	EXPECT_EQ(0, ks_set(PTSCHED_CMD_SET_DEVICE, all, COUNT(all), NULL, 0, NULL));
}

TEST(weights_that_are_set)
{
	struct ks_attr attrs[] = {{PTSCHED_A_PID, 4, 0}, {PTSCHED_A_WEIGHT, 4, 777}};
	char message[128];
	struct ks_entity e;
	int fd = ks_client(), refused;

	attrs[0].value = (uint64_t)getpid();
	ASSERT_EQ(0, ks_set(PTSCHED_CMD_SET_ENTITY, attrs, 2, NULL, 0, NULL));
	ASSERT_EQ(0, ks_entity(getpid(), &e));
	EXPECT_EQ(777, e.weight);
	EXPECT_EQ(1, e.weight_set);
	ASSERT_EQ(0, ks_acquire(fd));
	EXPECT_EQ(777, ks_page(fd)->weight);
	attrs[1].value = 0;
	ASSERT_EQ(0, ks_set(PTSCHED_CMD_SET_ENTITY, attrs, 2, NULL, 0, NULL));
	ASSERT_EQ(0, ks_entity(getpid(), &e));
	EXPECT_EQ(1024, e.weight);
	EXPECT_EQ(0, e.weight_set);
	attrs[1].value = PTSCHED_WEIGHT_MAX + 1;
	EXPECT_EQ(-ERANGE, ks_set(PTSCHED_CMD_SET_ENTITY, attrs, 2, message, sizeof(message), &refused));
	EXPECT_EQ(PTSCHED_A_WEIGHT, refused);
	attrs[1].value = 1;
	attrs[0].value = 1;
	EXPECT_EQ(-ESRCH, ks_set(PTSCHED_CMD_SET_ENTITY, attrs, 2, message, sizeof(message), &refused));
	EXPECT_EQ(PTSCHED_A_PID, refused);
	EXPECT_EQ(-EINVAL, ks_set(PTSCHED_CMD_SET_ENTITY, attrs, 1, NULL, 0, NULL));
	EXPECT_EQ(-EINVAL, ks_set(PTSCHED_CMD_SET_ENTITY, &attrs[1], 1, NULL, 0, NULL));
}

TEST(messages_that_are_malformed)
{
	struct ks_attr narrow = {PTSCHED_A_SLICE_NS, 4, 5000000};
	struct ks_attr foreign = {PTSCHED_A_BUDGET_NS, 8, 0};
	struct ks_attr unknown = {PTSCHED_A_MAX + 1, 4, 0};
	struct ks_attr nowhere = {PTSCHED_A_DEVICE_ID, 4, 4711};
	int refused;

	EXPECT_EQ(-EINVAL, ks_set(PTSCHED_CMD_SET_DEVICE, &narrow, 1, NULL, 0, &refused));
	EXPECT_EQ(PTSCHED_A_SLICE_NS, refused);
	EXPECT_EQ(-EINVAL, ks_set(PTSCHED_CMD_SET_DEVICE, &foreign, 1, NULL, 0, NULL));
	EXPECT_EQ(-EINVAL, ks_set(PTSCHED_CMD_SET_DEVICE, &unknown, 1, NULL, 0, NULL));
	EXPECT_EQ(-ENODEV, ks_set(PTSCHED_CMD_SET_DEVICE, &nowhere, 1, NULL, 0, &refused));
	EXPECT_EQ(PTSCHED_A_DEVICE_ID, refused);
	EXPECT_EQ(-EOPNOTSUPP, ks_set(PTSCHED_CMD_MAX + 1, NULL, 0, NULL, 0, NULL));
	EXPECT_EQ(-EOPNOTSUPP, ks_set(PTSCHED_CMD_EVENT, NULL, 0, NULL, 0, NULL));
}

TEST(settings_need_privilege)
{
	struct ks_attr slice = {PTSCHED_A_SLICE_NS, 8, 5000000};
	struct ks_attr weight[] = {{PTSCHED_A_PID, 4, 0}, {PTSCHED_A_WEIGHT, 4, 777}};
	struct ks_device d[8];

	ASSERT_EQ(0, setgroups(0, NULL));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	ASSERT_LE(0, ks_client());
	weight[0].value = (uint64_t)getpid();
	EXPECT_EQ(-EPERM, ks_set(PTSCHED_CMD_SET_DEVICE, &slice, 1, NULL, 0, NULL));
	EXPECT_EQ(-EPERM, ks_set(PTSCHED_CMD_SET_ENTITY, weight, 2, NULL, 0, NULL));
	EXPECT_EQ(2, ks_devices(d, 8));
	EXPECT_EQ(1, ks_count());
}

TEST(a_listener_that_does_not_read_is_told_that_it_misses_something)
{
	struct nl_sock *sock = ks_events_open();
	int fd = ks_client(), least = 1;
	char buffer[4096];

	ASSERT_NE(NULL, sock);
	ASSERT_EQ(0, setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVBUF, &least,
				sizeof(least)));
	/* More than wait to be sent and fit into the buffer. */
	for (int i = 0; i < 1000; i++) {
		ASSERT_EQ(0, ks_acquire(fd));
		ASSERT_EQ(0, ks_release(fd));
	}
	EXPECT_EQ(-ENOBUFS,
		  ks_result(recv(nl_socket_get_fd(sock), buffer, sizeof(buffer), 0)));
	ks_events_close(sock);
}

TEST(events_come_in_order)
{
	static const uint32_t expected[] = {PTSCHED_EVENT_ATTACH, PTSCHED_EVENT_GRANT,
					    PTSCHED_EVENT_RELEASE, PTSCHED_EVENT_EXIT};
	struct ks_attr same = {PTSCHED_A_ALPHA, 4, PTSCHED_ALPHA_MAX};
	struct nl_sock *sock = ks_events_open();
	struct ks_event event;
	uint64_t last = 0;
	int fd;

	ASSERT_NE(NULL, sock);
	fd = ks_client();
	ASSERT_EQ(0, ks_acquire(fd));
	ASSERT_EQ(0, ks_release(fd));
	close(fd);
	for (int i = 0; i < COUNT(expected); i++) {
		ASSERT_EQ(0, ks_events_next(sock, &event));
		EXPECT_EQ(expected[i], event.event);
		EXPECT_EQ(getpid(), event.pid);
		EXPECT_LE(last, event.time_ns);
		last = event.time_ns;
	}
	ASSERT_EQ(0, ks_set(PTSCHED_CMD_SET_DEVICE, &same, 1, NULL, 0, NULL));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, ks_events_next(sock, &event));
		EXPECT_EQ(PTSCHED_EVENT_SETTINGS, event.event);
	}
	ks_events_close(sock);
}

/* Two wait; the one that came second is made heavier by renice, and comes first. */
TEST(renice_changes_a_waiters_place)
{
	struct ks_attr grace = {PTSCHED_A_GRACE_NS, 8, 0};
	struct ks_sign first_out = ks_sign_new(), holds = ks_sign_new(), stop = ks_sign_new();
	struct ks_device d[8];
	pid_t holder, waiters[2];
	char order[2];

	ASSERT_EQ(2, ks_devices(d, 8));
	ASSERT_EQ(0, ks_set(PTSCHED_CMD_SET_DEVICE, &grace, 1, NULL, 0, NULL));
	ASSERT_EQ(0, ks_be_patient());
	/* Not this process: its children would start with the debt that it makes. */
	holder = fork();
	if (!holder) {
		if (ks_acquire(ks_client()))
			_exit(1);
		ks_sign_give(&holds);
		ks_sign_await(&stop);
		_exit(0);
	}
	ks_sign_await(&holds);
	for (int i = 0; i < 2; i++) {
		waiters[i] = fork();
		if (!waiters[i]) {
			char name = (char)('0' + i);
			int mine = ks_client();

			if (ks_acquire(mine) || write(first_out.fd[1], &name, 1) != 1)
				_exit(1);
			_exit(ks_release(mine) ? 2 : 0);
		}
		KS_UNTIL(ks_state(waiters[i]) == PTSCHED_ENTITY_WAITING);
	}
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, (id_t)waiters[1], -20));
	ks_sign_give(&stop);
	EXPECT_EQ(0, ks_wait(holder));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(1, read(first_out.fd[0], &order[i], 1));
		EXPECT_EQ(0, ks_wait(waiters[1 - i]));
	}
	EXPECT_EQ('1', order[0]);
	EXPECT_EQ('0', order[1]);
	grace.value = d[0].grace_ns;
	EXPECT_EQ(0, ks_set(PTSCHED_CMD_SET_DEVICE, &grace, 1, NULL, 0, NULL));
	EXPECT_EQ(0, ks_be_impatient());
}

TEST_HARNESS_MAIN
