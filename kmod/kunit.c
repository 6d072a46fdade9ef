// SPDX-License-Identifier: GPL-2.0-only
/*
 * What makes sense inside the kernel only: the timer of a device, who is woken, and
 * how long objects live. Each thread here is a process of its own for the scheduler.
 * What programs see is in tests/kselftest.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>

#include "core.h"

#define DEVICE		"ffff:01:00.0"
/* A machine that is emulated and busy needs some of it. */
#define PATIENCE_MS	20000
#define ROUNDS		200

/**
 * struct actor - a thread with a client of its own
 * @body: what it does with that
 * @client: the client
 * @task: the thread
 * @ready: it has attached
 * @go: it may end
 * @ended: it has ended
 * @result: what @body returned
 */
struct actor {
	int (*body)(struct actor *actor);
	struct ptsched_client *client;
	struct task_struct *task;
	struct completion ready, go, ended;
	int result;
};

static struct ptsched_client *attach(void)
{
	struct ptsched_attach arg = { .size = sizeof(arg), .node = -1, .device = DEVICE };
	struct ptsched_client *client = ptsched_client_new();
	int ret = client ? ptsched_call_attach(client, &arg) : -ENOMEM;

	if (!ret)
		return client;
	if (client)
		ptsched_client_free(client);
	return ERR_PTR(ret);
}

static int acquire(struct ptsched_client *client, u32 flags)
{
	struct ptsched_acquire arg = {
		.size = sizeof(arg),
		.flags = flags,
		.deadline_ns = PTSCHED_NEVER,
	};

	return ptsched_call_acquire(client, &arg);
}

static int release(struct ptsched_client *client)
{
	struct ptsched_release arg = { .size = sizeof(arg) };

	return ptsched_call_release(client, &arg);
}

static int act(void *data)
{
	struct actor *actor = data;

	actor->client = attach();
	complete(&actor->ready);
	actor->result = PTR_ERR_OR_ZERO(actor->client);
	if (!actor->result) {
		actor->result = actor->body(actor);
		ptsched_client_free(actor->client);
	}
	kthread_complete_and_exit(&actor->ended, 0);
}

static void start(struct kunit *test, struct actor *actor, int (*body)(struct actor *actor))
{
	actor->body = body;
	init_completion(&actor->ready);
	init_completion(&actor->go);
	init_completion(&actor->ended);
	actor->task = kthread_run(act, actor, "ptsched_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(actor->task));
	wait_for_completion(&actor->ready);
	KUNIT_ASSERT_FALSE(test, IS_ERR(actor->client));
}

static bool has_ended(struct actor *actor)
{
	return wait_for_completion_timeout(&actor->ended, msecs_to_jiffies(PATIENCE_MS));
}

/* Until @condition holds of @object, for which nobody may be woken. */
static bool await(bool (*condition)(void *object), void *object)
{
	unsigned long until = jiffies + msecs_to_jiffies(PATIENCE_MS);

	while (!condition(object) && time_before(jiffies, until))
		usleep_range(1000, 2000);
	return condition(object);
}

static u32 state_of(const struct ptsched_client *client)
{
	/* Pairs with ptsched_client_show(). */
	return smp_load_acquire(&client->shared->state);
}

static bool is_called_back(void *client)
{
	return state_of(client) & PTSCHED_STATE_CALLBACK;
}

static bool has_a_waiter(void *object)
{
	struct ptsched_client *client = object;
	bool has;

	ptsched_lock(client->dev);
	has = client->contract.nr_waiters == 1;
	ptsched_unlock(client->dev);
	return has;
}

static u32 entities_of(struct ptsched_dev *dev)
{
	u32 entities;

	ptsched_lock(dev);
	entities = dev->policy.nr_entities;
	ptsched_unlock(dev);
	return entities;
}

static bool has_one_entity(void *dev)
{
	return entities_of(dev) == 1;
}

static u64 turns_of(struct ptsched_dev *dev)
{
	u64 turns;

	ptsched_lock(dev);
	turns = dev->policy.stats.turns;
	ptsched_unlock(dev);
	return turns;
}

static int have_one_turn(struct actor *actor)
{
	int ret = acquire(actor->client, 0);

	return ret ? ret : release(actor->client);
}

static void timer_calls_back(struct kunit *test)
{
	struct ptsched_client *client = attach();
	struct actor waiter;

	KUNIT_ASSERT_FALSE(test, IS_ERR(client));
	KUNIT_EXPECT_EQ(test, acquire(client, 0), 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&client->dev->timer));
	start(test, &waiter, have_one_turn);
	/* Nothing happens on the device but that the timer of the slice expires. */
	KUNIT_EXPECT_TRUE(test, await(is_called_back, client));
	KUNIT_EXPECT_EQ(test, release(client), 0);
	KUNIT_EXPECT_TRUE(test, has_ended(&waiter));
	KUNIT_EXPECT_EQ(test, waiter.result, 0);
	KUNIT_EXPECT_FALSE(test, hrtimer_active(&client->dev->timer));
	ptsched_client_free(client);
}

/* Who waits gets one turn, and nobody is left that would be woken again. */
static void waiter_has_one_turn(struct kunit *test)
{
	struct ptsched_client *client = attach();
	struct ptsched_dev *dev;
	struct actor waiter;
	u64 before;

	KUNIT_ASSERT_FALSE(test, IS_ERR(client));
	dev = client->dev;
	KUNIT_EXPECT_EQ(test, acquire(client, 0), 0);
	before = turns_of(dev);
	start(test, &waiter, have_one_turn);
	KUNIT_EXPECT_TRUE(test, await(has_a_waiter, waiter.client));
	KUNIT_EXPECT_EQ(test, release(client), 0);
	KUNIT_EXPECT_TRUE(test, has_ended(&waiter));
	KUNIT_EXPECT_EQ(test, turns_of(dev), before + 1);
	ptsched_lock(dev);
	KUNIT_EXPECT_TRUE(test, list_empty(&dev->woken));
	KUNIT_EXPECT_TRUE(test, list_empty(&dev->admitting));
	KUNIT_EXPECT_EQ(test, dev->policy.nr_waiters, 0);
	ptsched_unlock(dev);
	ptsched_client_free(client);
}

static int wait_for_go(struct actor *actor)
{
	wait_for_completion(&actor->go);
	return 0;
}

/* Its process dies while another has a turn on its behalf: it is there until that ends. */
static void entity_outlives_its_process(struct kunit *test)
{
	struct ptsched_client *client = attach();
	struct actor requester;
	struct ptsched_dev *dev;
	struct pid *pid;

	KUNIT_ASSERT_FALSE(test, IS_ERR(client));
	dev = client->dev;
	start(test, &requester, wait_for_go);
	pid = get_pid(task_tgid(requester.task));
	KUNIT_EXPECT_EQ(test, ptsched_client_act_for(client, pid, NULL), 0);
	KUNIT_EXPECT_EQ(test, acquire(client, 0), 0);
	KUNIT_EXPECT_EQ(test, entities_of(dev), 2);
	complete(&requester.go);
	KUNIT_EXPECT_TRUE(test, has_ended(&requester));
	/* Its last client is gone with it. */
	KUNIT_EXPECT_EQ(test, entities_of(dev), 2);
	KUNIT_EXPECT_TRUE(test, state_of(client) & PTSCHED_STATE_TURN);
	KUNIT_EXPECT_EQ(test, release(client), 0);
	KUNIT_EXPECT_TRUE(test, await(has_one_entity, dev));
	put_pid(pid);
	ptsched_client_free(client);
}

/* Until it is told that there are no turns for it any more. */
static int have_turns(struct actor *actor)
{
	int ret;

	do {
		ret = acquire(actor->client, PTSCHED_ACQUIRE_TRY);
		if (!ret)
			release(actor->client);
		cond_resched();
	} while (ret != -ECANCELED);
	return ret;
}

/* As when the last descriptor goes while a thread of the process is in a call. */
static void client_ends_in_a_call(struct kunit *test)
{
	struct ptsched_dev *dev;
	struct actor actor;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		start(test, &actor, have_turns);
		dev = actor.client->dev;
		kref_get(&dev->ref);
		ndelay(i * 100);
		ptsched_client_close(actor.client, ptsched_lock(dev));
		ptsched_unlock(dev);
		KUNIT_EXPECT_TRUE(test, has_ended(&actor));
		KUNIT_EXPECT_EQ(test, actor.result, -ECANCELED);
		KUNIT_EXPECT_EQ(test, entities_of(dev), 0);
		ptsched_dev_put(dev);
	}
}

static bool started_here;

static void stop(struct kunit_suite *suite)
{
	if (!started_here)
		return;
	started_here = false;
	ptsched_end_devices();
	ptsched_end();
}

/* Many kernels run the tests of a module before it has begun: what is tested does so for them. */
static int begin(struct kunit_suite *suite)
{
	int ret;

	if (ptsched_wq)
		return 0;
	ret = ptsched_begin();
	if (ret)
		return ret;
	started_here = true;
	ret = ptsched_add_test_devices(1);
	if (ret)
		stop(suite);
	return ret;
}

static struct kunit_case cases[] = {
	KUNIT_CASE(timer_calls_back),
	KUNIT_CASE(waiter_has_one_turn),
	KUNIT_CASE(entity_outlives_its_process),
	KUNIT_CASE(client_ends_in_a_call),
	{}
};

static struct kunit_suite suite = {
	.name = "ptsched",
	.suite_init = begin,
	.suite_exit = stop,
	.test_cases = cases,
};

kunit_test_suite(suite);
