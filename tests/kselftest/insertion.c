// SPDX-License-Identifier: MIT
/*
 * What can fail while the module is inserted, in a machine that has GPUs, fails cleanly: the module is not there then,
 * nor anything of it, and the next attempt succeeds.
 */
#include "fail_nth.h"
#include "harness.h"
#include "ks.h"
#include "ks_pci.h"

#define MODULE "/vm/modules/ptsched.ko"

/* The module's own are the last: before them, the kernel makes room for it. */
enum { FAULTS = 150, MANY = 1000000, TIMEOUT_S = 1100 };

static int insert(void)
{
	int fd = ks_result(open(MODULE, O_RDONLY | O_CLOEXEC));
	int ret = fd < 0 ? fd : ks_result((int)syscall(SYS_finit_module, fd, "test_devices=2", 0));

	if (fd >= 0)
		close(fd);
	return ret;
}

static int take_out(void)
{
	return ks_result((int)syscall(SYS_delete_module, "ptsched", O_NONBLOCK));
}

static bool is_there(void)
{
	return !access("/sys/module/ptsched", F_OK) || !access(KS_NODE, F_OK);
}

/* The module is out; what is taken out for that is inserted again. */
FIXTURE(module)
{
	int file;
};

FIXTURE_SETUP(module)
{
	self->file = access(MODULE, R_OK) ? -1 : open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (self->file < 0)
		return;
	ASSERT_TRUE(faults_are_ready());
	ASSERT_EQ(0, take_out());
	ASSERT_EQ(0, say_to(BUS "rescan"));
}

FIXTURE_TEARDOWN(module)
{
	if (self->file < 0)
		return;
	unplug_all();
	if (!is_there())
		EXPECT_EQ(0, insert());
	close(self->file);
}

TEST_F_TIMEOUT(module, whatever_can_fail_at_insertion_fails_cleanly, TIMEOUT_S)
{
	unsigned int nth, all, failures = 0;
	int ret;

	if (self->file < 0)
		SKIP(return, "this kernel injects no faults (FAULT_INJECTION), or there is no " MODULE);
	let_fail(self->file, MANY);
	ret = insert();
	all = MANY - (unsigned int)left_to_fail(self->file);
	let_fail(self->file, 0);
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, take_out());
	for (nth = all; nth > 0 && nth + FAULTS > all; nth--) {
		let_fail(self->file, nth);
		ret = insert();
		let_fail(self->file, 0);
		failures += ret != 0;
		if (!ret)
			ret = take_out();
		else if (ret == -ENOMEM || ret == -EFAULT)
			ret = 0;
		EXPECT_EQ(0, ret)
		{
			TH_LOG("fault %u of %u", nth, all);
		}
		ASSERT_FALSE(is_there());
	}
	TH_LOG("%u faults, of which %u made the insertion fail", all - nth, failures);
	EXPECT_GT(failures, 0);
}

TEST_HARNESS_MAIN
