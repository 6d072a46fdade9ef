// SPDX-License-Identifier: MIT
/*
 * Arguments of the ioctls, as the kernel sees them: sizes, unknown bits, bad
 * pointers, wrong states, and random bytes. Built for 64-bit and 32-bit callers.
 */
#include "harness.h"
#include "ks.h"

struct call {
	const char *name;
	unsigned int code;
	__u32 first, size; /* of the structure, when it was new and now */
	bool needs_owner;
};

enum { PTSC_ANYBODY, PTSC_OWNER };

static const struct call calls[] = {
#define PTSC_CALL(NAME, name, first, size, caller, is_valid) \
	{#NAME, PTSCHED_IOC_##NAME, first, size, (caller) == PTSC_OWNER},
#include "kmod/contract/calls.h"
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* Room for every structure and for callers from the future. */
union arg {
	__u32 size;
	__u8 bytes[512];
#define PTSC_CALL(NAME, name, ...) struct ptsched_##name name;
#include "kmod/contract/calls.h"
};

/* The argument that succeeds wherever the state allows. */
static union arg good(const struct call *call)
{
	union arg arg = {.bytes = {0}};

	arg.size = call->size;
	if (call->code == PTSCHED_IOC_ATTACH)
		strcpy(arg.attach.device, KS_DEVICE0);
	if (call->code == PTSCHED_IOC_ACQUIRE)
		arg.acquire.deadline_ns = PTSCHED_NEVER;
	if (call->code == PTSCHED_IOC_ACT_FOR)
		arg.act_for.fd = -1;
	return arg;
}

static int issue(int fd, const struct call *call, union arg *arg)
{
	return ks_result(ioctl(fd, call->code, arg));
}

static const struct call *find(unsigned int code)
{
	for (size_t i = 0; i < CALLS; i++)
		if (calls[i].code == code)
			return &calls[i];
	abort();
}

FIXTURE(client)
{
	int fd;
};

FIXTURE_SETUP(client)
{
	self->fd = ks_client();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(client)
{
	close(self->fd);
}

TEST_F(client, a_structure_that_is_too_small)
{
	for (size_t i = 0; i < CALLS; i++) {
		for (__u32 size = 0; size < calls[i].first; size++) {
			union arg arg = good(&calls[i]);

			arg.size = size;
			EXPECT_EQ(-EINVAL, issue(self->fd, &calls[i], &arg))
			{
				TH_LOG("%s of size %u", calls[i].name, size);
			}
		}
	}
}

TEST_F(client, a_structure_from_the_future)
{
	/* QUERY, then a whole turn. */
	static const unsigned int order[] = {PTSCHED_IOC_QUERY, PTSCHED_IOC_ACT_FOR,
					     PTSCHED_IOC_ACQUIRE, PTSCHED_IOC_REPORT,
					     PTSCHED_IOC_ACK, PTSCHED_IOC_RELEASE};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct call *call = find(order[i]);

		for (size_t at = call->size; at < sizeof(union arg); at += 61) {
			union arg arg = good(call);

			arg.size = sizeof(arg);
			arg.bytes[at] = 1;
			EXPECT_EQ(-E2BIG, issue(self->fd, call, &arg))
			{
				TH_LOG("%s with byte %zu set", call->name, at);
			}
		}
		union arg arg = good(call);

		arg.size = sizeof(arg);
		EXPECT_EQ(0, issue(self->fd, call, &arg))
		{
			TH_LOG("%s with a longer, empty tail", call->name);
		}
		EXPECT_EQ(sizeof(arg), arg.size);
	}
}

TEST_F(client, a_size_larger_than_a_page)
{
	for (size_t i = 0; i < CALLS; i++) {
		union arg arg = good(&calls[i]);

		arg.size = 0x7fffffff;
		EXPECT_EQ(-E2BIG, issue(self->fd, &calls[i], &arg));
		arg.size = 0xffffffff;
		EXPECT_EQ(-E2BIG, issue(self->fd, &calls[i], &arg));
	}
}

TEST_F(client, bad_pointers)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	for (size_t i = 0; i < CALLS; i++) {
		union arg arg = good(&calls[i]);
		char *end = page + 4096 - calls[i].size;

		EXPECT_EQ(-EFAULT, ks_result(ioctl(self->fd, calls[i].code, NULL)));
		EXPECT_EQ(-EFAULT, ks_result(ioctl(self->fd, calls[i].code, (void *)-4096L)));
		/* The last byte is beyond the page. */
		munmap(page + 4096, 4096);
		memcpy(end + 1, &arg, calls[i].size - 1);
		EXPECT_EQ(-EFAULT, ks_result(ioctl(self->fd, calls[i].code, end + 1)))
		{
			TH_LOG("%s", calls[i].name);
		}
	}
}

/* What is refused leaves nothing behind: no turn that its caller does not know of. */
TEST_F(client, outputs_that_cannot_be_written)
{
	const unsigned int calls[] = {PTSCHED_IOC_QUERY, PTSCHED_IOC_ATTACH, PTSCHED_IOC_ACQUIRE};
	const volatile struct ptsched_page *state = ks_page(self->fd);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_NE(MAP_FAILED, state);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct call *call = find(calls[i]);
		union arg arg = good(call);

		ASSERT_EQ(0, mprotect(page, 4096, PROT_READ | PROT_WRITE));
		memcpy(page, &arg, call->size);
		ASSERT_EQ(0, mprotect(page, 4096, PROT_READ));
		EXPECT_EQ(-EFAULT, ks_result(ioctl(self->fd, call->code, page)));
	}
	EXPECT_EQ(0, state->state & PTSCHED_STATE_TURN);
	EXPECT_EQ(-EPERM, ks_release(self->fd));
}

TEST_F(client, unknown_bits_and_reserved_fields)
{
	union arg arg = good(find(PTSCHED_IOC_QUERY));

	for (int bit = 0; bit < 32; bit++) {
		arg.query.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, ks_result(ioctl(self->fd, PTSCHED_IOC_QUERY, &arg)));
	}
	arg = good(find(PTSCHED_IOC_ACQUIRE));
	for (int bit = 2; bit < 32; bit++) {
		arg.acquire.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, ks_result(ioctl(self->fd, PTSCHED_IOC_ACQUIRE, &arg)));
	}
	arg = good(find(PTSCHED_IOC_ACT_FOR));
	for (int bit = 0; bit < 32; bit++) {
		arg.act_for.pad = 1U << bit;
		EXPECT_EQ(-EINVAL, ks_result(ioctl(self->fd, PTSCHED_IOC_ACT_FOR, &arg)));
	}
	arg = good(find(PTSCHED_IOC_GROUP));
	for (int bit = 0; bit < 32; bit++) {
		arg.group.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, ks_result(ioctl(self->fd, PTSCHED_IOC_GROUP, &arg)));
	}
	arg = good(find(PTSCHED_IOC_ACT_FOR));
	arg.act_for.kind = 2;
	EXPECT_EQ(-EINVAL, ks_result(ioctl(self->fd, PTSCHED_IOC_ACT_FOR, &arg)));
}

TEST(unknown_calls)
{
	int fd = ks_client();
	union arg arg = {.size = sizeof(arg)};

	ASSERT_LE(0, fd);
	for (unsigned int nr = 7; nr < 256; nr++)
		EXPECT_EQ(-ENOTTY, ks_result(ioctl(fd, _IOWR(PTSCHED_IOC_MAGIC, nr, union arg), &arg)));
	EXPECT_EQ(-ENOTTY, ks_result(ioctl(fd, _IOWR('x', 0, struct ptsched_query), &arg)));
	/* A direction that the call does not have. */
	EXPECT_EQ(-ENOTTY, ks_result(ioctl(fd, _IOW(PTSCHED_IOC_MAGIC, 0, struct ptsched_query), &arg)));
	EXPECT_EQ(-ENOTTY, ks_result(ioctl(fd, _IO(PTSCHED_IOC_MAGIC, 0), &arg)));
}

TEST(the_size_in_the_code_is_that_of_the_callers_header)
{
	int fd = ks_client();
	union arg arg = good(find(PTSCHED_IOC_QUERY));

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, ks_result(ioctl(fd, _IOWR(PTSCHED_IOC_MAGIC, 0, union arg), &arg)));
	EXPECT_EQ(PTSCHED_VERSION_MAJOR, arg.query.version_major);
}

static void expect_attach(struct __test_metadata *_metadata, const char *device, int error)
{
	struct ptsched_attach out;
	int fd = ks_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(error, ks_attach(fd, device, &out))
	{
		TH_LOG("device \"%s\"", device);
	}
	/* Outputs are those of a success only. */
	EXPECT_EQ(error == 0, out.entity != 0);
	close(fd);
}

TEST(names_of_devices)
{
	static const char *const malformed[] = {
		"", "0", "ffff:01:00", "ffff:01:00.", "ffff:01:00.8", "ffff:01:20.0", "fff:01:00.0",
		"ffff:1:00.0", "ffff:01:00.00", "ffff:01:00.0 ", " ffff:01:00.0", "gffff:01:00.0",
		"123456789:01:00.0", "GPU-", "GPU-00000000-0000-0000-0000-00000000000",
		"GPU-00000000-0000-0000-0000-0000000000010", "GPU-0000000000000000000000000000000000x1",
		"/dev/nvidia0"};
	static const char *const unknown[] = {
		"ffff:03:00.0", "fffe:01:00.0", "ffff:01:00.1", "ffff:01:01.0",
		"GPU-00000000-0000-0000-0000-000000000003"};
	static const char *const known[] = {
		"ffff:01:00.0", "FFFF:01:00.0", "0000ffff:01:00.0", "0000FfFf:01:00.0",
		"GPU-00000000-0000-0000-0000-000000000001"};

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		expect_attach(_metadata, malformed[i], -EINVAL);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		expect_attach(_metadata, unknown[i], -ENODEV);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		expect_attach(_metadata, known[i], 0);
}

TEST(a_name_that_does_not_end)
{
	struct ptsched_mechanism mechanism = {
		.size = sizeof(mechanism),
		.mechanism = PTSCHED_MECHANISM_PREEMPT,
	};
	struct ptsched_attach arg = {.size = sizeof(arg)};
	int fd = ks_open();

	ASSERT_LE(0, fd);
	memset(arg.device, 'f', sizeof(arg.device));
	EXPECT_EQ(-EINVAL, ks_result(ioctl(fd, PTSCHED_IOC_ATTACH, &arg)));
	memset(arg.device, 0, sizeof(arg.device));
	strcpy(arg.device, KS_DEVICE0);
	arg.device[40] = 'x';
	EXPECT_EQ(-EINVAL, ks_result(ioctl(fd, PTSCHED_IOC_ATTACH, &arg)));
	arg.device[40] = 0;
	arg.mechanism = PTSCHED_MECHANISM_PREEMPT + 1;
	EXPECT_EQ(-EINVAL, ks_result(ioctl(fd, PTSCHED_IOC_ATTACH, &arg)));
	arg.mechanism = 0;
	arg.flags = PTSCHED_ATTACH_NODE << 1;
	EXPECT_EQ(-EINVAL, ks_result(ioctl(fd, PTSCHED_IOC_ATTACH, &arg)));
	arg.flags = 0;
	EXPECT_EQ(0, ks_result(ioctl(fd, PTSCHED_IOC_ATTACH, &arg)));
	EXPECT_NE(0, arg.entity);
	EXPECT_EQ(-EBUSY, ks_result(ioctl(fd, PTSCHED_IOC_ATTACH, &arg)));
	EXPECT_EQ(0, ks_result(ioctl(fd, PTSCHED_IOC_MECHANISM, &mechanism)));
	mechanism.mechanism++;
	EXPECT_EQ(-EINVAL, ks_result(ioctl(fd, PTSCHED_IOC_MECHANISM, &mechanism)));
}

TEST(calls_before_attaching)
{
	int fd = ks_open();

	ASSERT_LE(0, fd);
	for (size_t i = 0; i < CALLS; i++) {
		union arg arg = good(&calls[i]);

		if (calls[i].needs_owner)
			EXPECT_EQ(-ENOTCONN, issue(fd, &calls[i], &arg));
	}
	close(fd);
}

TEST_F(client, calls_without_the_turn)
{
	union arg arg = good(find(PTSCHED_IOC_RELEASE));

	EXPECT_EQ(-EPERM, issue(self->fd, find(PTSCHED_IOC_RELEASE), &arg));
	arg = good(find(PTSCHED_IOC_REPORT));
	EXPECT_EQ(-EPERM, issue(self->fd, find(PTSCHED_IOC_REPORT), &arg));
}

TEST_F(client, outputs_are_unchanged_on_failure)
{
	union arg before, arg = good(find(PTSCHED_IOC_ACQUIRE));
	pid_t child;
	struct ks_sign holds = ks_sign_new(), done = ks_sign_new();

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int fd = ks_client();

		if (ks_acquire(fd))
			_exit(1);
		ks_sign_give(&holds);
		ks_sign_await(&done);
		_exit(ks_release(fd) ? 2 : 0);
	}
	ks_sign_await(&holds);
	memset(&arg.bytes[4], 0xcc, calls[2].size - 4);
	arg.acquire.flags = PTSCHED_ACQUIRE_TRY;
	before = arg;
	EXPECT_EQ(-EAGAIN, issue(self->fd, find(PTSCHED_IOC_ACQUIRE), &arg));
	EXPECT_EQ(0, memcmp(&before, &arg, sizeof(arg)));
	arg.acquire.flags = 0;
	arg.acquire.deadline_ns = 1;
	before = arg;
	EXPECT_EQ(-ETIMEDOUT, issue(self->fd, find(PTSCHED_IOC_ACQUIRE), &arg));
	EXPECT_EQ(0, memcmp(&before, &arg, sizeof(arg)));
	ks_sign_give(&done);
	EXPECT_EQ(0, ks_wait(child));
}

static uint64_t random_state;

static uint32_t rnd(void)
{
	return ks_random(&random_state);
}

static void fill(union arg *arg, const struct call *call)
{
	*arg = good(call);
	switch (rnd() % 4) {
	case 0: /* noise */
		for (size_t i = 0; i < sizeof(arg->bytes); i++)
			arg->bytes[i] = (__u8)rnd();
		break;
	case 1: /* a good one with one byte wrong */
		arg->bytes[4 + rnd() % (call->size - 4)] ^= (__u8)rnd();
		break;
	case 2: /* another size */
		arg->size = rnd() % (sizeof(*arg) + 1);
		break;
	}
	/* Nobody would end a wait. */
	if (call->code == PTSCHED_IOC_ACQUIRE)
		arg->acquire.deadline_ns = rnd() % 1000;
}

/* Whatever is called in whatever state, the answer is one of those in the header. */
TEST(random_calls)
{
	int fds[4];

	random_state = ks_seed();
	TH_LOG("PTSCHED_SEED=%llu", (unsigned long long)random_state);
	for (int i = 0; i < 4; i++)
		fds[i] = ks_open();
	for (int i = 0; i < 20000; i++) {
		const struct call *call = &calls[rnd() % CALLS];
		int *fd = &fds[rnd() % 4];
		union arg arg;
		int ret;

		if (rnd() % 64 == 0) {
			close(*fd);
			*fd = ks_open();
		}
		fill(&arg, call);
		ret = issue(*fd, call, &arg);
		EXPECT_TRUE(ret == 0 || ret == -EINVAL || ret == -E2BIG || ret == -EFAULT ||
			    ret == -ENOTCONN || ret == -EBUSY || ret == -ENODEV || ret == -EPERM ||
			    ret == -EAGAIN || ret == -ETIMEDOUT || ret == -EBADF || ret == -ESRCH)
		{
			TH_LOG("%s: %d", call->name, ret);
		}
	}
	for (int i = 0; i < 4; i++)
		close(fds[i]);
}

TEST_HARNESS_MAIN
