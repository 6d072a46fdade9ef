// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns of clients. The policy gives the turn to an entity; its clients hold it
 * one by one, and it ends with the last of these holds. While an entity has the
 * turn and is not called back, its clients join at once: those that ask, and then
 * those that wait, a few each time that the device is unlocked. Once it is called
 * back, all others wait until the turn has ended and then ask for a new one.
 */
#include <linux/list.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "core.h"
#include "trace.h"

/*
 * A thread that waits. It lives on the thread's stack: who looks at it does so
 * under the device's lock, and the thread takes that lock before it returns.
 */
struct waiter {
	struct list_head link;	/* in client->waiters, then dev->woken, then nowhere */
	struct ptsched_client *client;
	struct task_struct *task;
	struct ptsched_acquire *arg;
	u64 start_ns;
	bool sleeps;		/* or is about to, and so has to be woken */
	bool granted;
};

static void hold(struct ptsched_client *client, pid_t thread)
{
	struct ptsched_entity *ent = client->entity;
	struct ptsched_page *page = client->shared;
	const struct ptsp_params *params = &ent->dev->policy.params;

	lockdep_assert_held(&ent->dev->lock);
	if (!ptsc_hold(&client->contract, &ent->contract, thread))
		return;
	/* Before the state: who sees the turn there may rely on these. */
	WRITE_ONCE(page->turn, ent->policy.turn);
	WRITE_ONCE(page->budget_ns, ent->granted_budget_ns);
	WRITE_ONCE(page->budget_stamp_ns, ent->policy.granted_ns);
	WRITE_ONCE(page->granted_ns, ent->policy.granted_ns);
	WRITE_ONCE(page->inflight_ns, params->kind == PTSP_NONE ? 0 : params->inflight_ns);
	WRITE_ONCE(page->busy_until_ns, ent->policy.busy_until_ns);
	WRITE_ONCE(page->weight, ent->policy.weight);
	ptsched_client_show(client);
}

/* There is one. Those without waiters stay in the list until then: most soon have one again. */
static struct ptsched_client *first_with_waiters(struct ptsched_entity *ent)
{
	struct ptsched_client *client;

	for (;;) {
		client = list_first_entry(&ent->waiting, struct ptsched_client, waiting);
		if (client->contract.nr_waiters)
			return client;
		list_del_init(&client->waiting);
	}
}

/* The one that came first to the client that came first. */
static void grant_one(struct ptsched_entity *ent)
{
	struct ptsched_client *client = first_with_waiters(ent);
	struct waiter *waiter = list_first_entry(&client->waiters, struct waiter, link);

	hold(client, task_pid_nr(waiter->task));
	/* At once: the turn may be over when the thread runs. */
	ptsc_describe_turn(waiter->arg, &ent->policy, ent->granted_budget_ns, waiter->start_ns);
	WRITE_ONCE(waiter->granted, true);
	if (waiter->sleeps)
		list_move_tail(&waiter->link, &ent->dev->woken);
	else
		list_del_init(&waiter->link);
	ptsc_stop_waiting(&client->contract, &ent->contract, 1);
}

/* Whether some of its threads wait although it has the turn. */
static bool admits(const struct ptsched_entity *ent)
{
	return ent->contract.nr_waiters && ptsc_admits(&ent->policy);
}

/**
 * ptsched_turn_admit - threads that wait may have the turn that their entity has
 * @ent: the entity, locked
 *
 * To be called when one of both becomes true. They get it by and by.
 */
void ptsched_turn_admit(struct ptsched_entity *ent)
{
	lockdep_assert_held(&ent->dev->lock);
	if (admits(ent) && list_empty(&ent->admitting))
		list_add_tail(&ent->admitting, &ent->dev->admitting);
}

/**
 * ptsched_turn_admit_some - give the turn to threads whose entity has it
 * @dev: the device, locked
 * @most: to so many of them
 */
void ptsched_turn_admit_some(struct ptsched_dev *dev, unsigned int most)
{
	struct ptsched_entity *ent;

	lockdep_assert_held(&dev->lock);
	while (most-- && !list_empty(&dev->admitting)) {
		ent = list_first_entry(&dev->admitting, struct ptsched_entity, admitting);
		if (admits(ent))
			grant_one(ent);
		else
			list_del_init(&ent->admitting);
	}
}

/**
 * ptsched_turn_next_woken - the next of the threads that are to look again
 * @dev: the device, locked; there is one
 *
 * Return: the thread, with a reference.
 */
struct task_struct *ptsched_turn_next_woken(struct ptsched_dev *dev)
{
	struct waiter *waiter = list_first_entry(&dev->woken, struct waiter, link);

	lockdep_assert_held(&dev->lock);
	list_del_init(&waiter->link);
	return get_task_struct(waiter->task);
}

/**
 * ptsched_turn_granted - the policy gave an entity the turn
 * @ent: the entity, locked; a thread of it waits
 */
void ptsched_turn_granted(struct ptsched_entity *ent)
{
	lockdep_assert_held(&ent->dev->lock);
	ent->granted_budget_ns = ptsp_budget(&ent->dev->policy, &ent->policy,
					     ent->policy.granted_ns);
	trace_ptsched_grant(ent);
	ptsched_event(ent->dev, ent, PTSCHED_EVENT_GRANT);
	/* The turn is held from its beginning to its end. */
	grant_one(ent);
	ptsched_turn_admit(ent);
	ptsched_group_granted(ent);
}

/**
 * ptsched_turn_refuse - no thread of a client will get the turn
 * @client: the client, its device locked; it is closed or its device is gone
 */
void ptsched_turn_refuse(struct ptsched_client *client)
{
	lockdep_assert_held(&client->dev->lock);
	list_splice_tail_init(&client->waiters, &client->dev->woken);
	ptsc_stop_waiting(&client->contract, &client->entity->contract,
			  client->contract.nr_waiters);
}

/* Whether the calling thread holds the turn through some client of its process. */
static bool thread_holds(const struct ptsched_client *client)
{
	const struct ptsched_client *other;

	list_for_each_entry(other, &client->entity->members, link)
		if (other->owner == client->owner &&
		    ptsc_is_held_by(&other->contract, task_pid_nr(current)))
			return true;
	return false;
}

static bool may_join(const struct ptsched_client *client)
{
	const struct ptsp_entity *e = &client->entity->policy;

	return ptsc_joins(&client->contract, e) ||
	       (e->state == PTSP_HOLDING && thread_holds(client));
}

static void give_up(struct waiter *waiter)
{
	struct ptsched_client *client = waiter->client;

	list_del(&waiter->link);
	ptsc_stop_waiting(&client->contract, &client->entity->contract, 1);
	/* Not at the time of the call: it has slept. */
	ptsched_entity_update(client->entity, client->dev->locked_ns);
}

/* -EINPROGRESS: it waits on. */
static int result_of(const struct waiter *waiter)
{
	if (READ_ONCE(waiter->granted))
		return 0;
	if (READ_ONCE(waiter->client->contract.closed))
		return -ECANCELED;
	return READ_ONCE(waiter->client->dev->gone) ? -ENODEV : -EINPROGRESS;
}

/*
 * Sleeps until @waiter has a result, a signal comes or the deadline passes.
 * Returns with the lock held, as it was called.
 */
static int sleep_until_settled(struct ptsched_dev *dev, struct waiter *waiter, u64 deadline_ns)
	__must_hold(&dev->lock)
{
	ktime_t deadline = ns_to_ktime(min_t(u64, deadline_ns, KTIME_MAX));
	bool late = false;
	int result;

	waiter->sleeps = true;
	for (;;) {
		ptsched_unlock(dev);
		set_current_state(TASK_INTERRUPTIBLE);
		if (result_of(waiter) == -EINPROGRESS) {
			if (deadline_ns == PTSCHED_NEVER)
				schedule();
			else
				late = !schedule_hrtimeout_range(&deadline, 0, HRTIMER_MODE_ABS);
		}
		__set_current_state(TASK_RUNNING);
		ptsched_lock(dev);
		/* First: a grant beats a signal and the clock. */
		result = result_of(waiter);
		if (result != -EINPROGRESS)
			return result;
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (late)
			return -ETIMEDOUT;
	}
}

/* The lock is held; the caller is the owner. */
static int wait_for_turn(struct ptsched_client *client, struct ptsched_acquire *arg, u64 now)
	__must_hold(&client->dev->lock)
{
	struct waiter waiter = {
		.client = client,
		.task = current,
		.arg = arg,
		.start_ns = now,
	};
	struct ptsched_dev *dev = client->dev;
	int ret;

	list_add_tail(&waiter.link, &client->waiters);
	ptsc_wait(&client->contract, &client->entity->contract);
	if (list_empty(&client->waiting))
		list_add_tail(&client->waiting, &client->entity->waiting);
	ptsched_entity_update(client->entity, now);
	dev->asker_cpu = raw_smp_processor_id() + 1;
	ptsched_run(dev, now);
	dev->asker_cpu = 0;
	ret = result_of(&waiter);
	if (ret == -EINPROGRESS)
		ret = arg->flags & PTSCHED_ACQUIRE_TRY ? -EAGAIN :
		      sleep_until_settled(dev, &waiter, arg->deadline_ns);
	if (result_of(&waiter) == -EINPROGRESS)
		give_up(&waiter);
	else if (!list_empty(&waiter.link))
		/* It is among those that are to be woken. */
		list_del(&waiter.link);
	return ret;
}

/* Whether lighter ones may stay on the device. */
static void tolerate(struct ptsched_client *client, const struct ptsched_acquire *arg, u64 now)
{
	struct ptsp_entity *e = &client->entity->policy;
	bool above = arg->flags & PTSCHED_ACQUIRE_ABOVE;

	if (above == e->tolerates)
		return;
	ptsp_tolerate(&client->dev->policy, e, above, now);
	client->dev->changed = true;
}

/* The lock is held; the caller is the owner. */
static int acquire(struct ptsched_client *client, struct ptsched_acquire *arg, u64 now)
	__must_hold(&client->dev->lock)
{
	struct ptsched_entity *ent;
	int ret;

	if (!client->contract.holds && !client->contract.nr_waiters &&
	    !ptsched_client_may_act_on(client))
		ptsched_client_move(client, client->self, now);
	ent = client->entity;
	tolerate(client, arg, now);
	if (may_join(client)) {
		hold(client, task_pid_nr(current));
		ptsc_describe_turn(arg, &ent->policy, ent->granted_budget_ns, now);
		return 0;
	}
	ret = ptsc_gives_up(arg->flags, arg->deadline_ns, now);
	if (ret && !ptsp_would_grant(&client->dev->policy, &ent->policy, now))
		return ret;
	return wait_for_turn(client, arg, now);
}

/**
 * ptsched_call_acquire - PTSCHED_IOC_ACQUIRE
 * @client: an attached client of the calling process
 * @arg: checked arguments, outputs filled in on success
 *
 * Return: 0, -EAGAIN, -ETIMEDOUT, -ERESTARTSYS, -ECANCELED or -ENODEV.
 */
int ptsched_call_acquire(struct ptsched_client *client, struct ptsched_acquire *arg)
{
	struct ptsched_dev *dev = client->dev;
	u64 now = ptsched_lock(dev);
	int ret = ptsc_allow_acquire(&client->contract, dev->gone);

	if (!ret)
		ret = acquire(client, arg, now);
	ptsched_unlock(dev);
	return ret;
}

/**
 * ptsched_turn_charge - a client of an entity that has the turn told of its use
 * @ent: the entity, locked
 * @gpu_ns: GPU time since the last report
 * @submissions: calls that gave the device work
 * @now: the time
 */
void ptsched_turn_charge(struct ptsched_entity *ent, u64 gpu_ns, u32 submissions, u64 now)
{
	u64 charged = ent->policy.stats.gpu_ns;

	lockdep_assert_held(&ent->dev->lock);
	ptsp_report(&ent->dev->policy, &ent->policy, gpu_ns, submissions, now);
	charged = ent->policy.stats.gpu_ns - charged;
	ent->user->gpu_ns += charged;
	if (ent->cgroup)
		ptsched_cgroup_charge(ent, charged);
	trace_ptsched_charge(ent, gpu_ns, submissions);
}

/**
 * ptsched_turn_drop - a client's hold ends, and with the last the turn
 * @client: the client, its device locked
 * @handover_ns: how long the device stood still for this turn
 * @now: the time
 */
void ptsched_turn_drop(struct ptsched_client *client, u64 handover_ns, u64 now)
{
	struct ptsched_entity *ent = client->entity;
	struct ptsched_dev *dev = client->dev;
	bool ends;

	lockdep_assert_held(&dev->lock);
	ends = ptsc_drop(&client->contract, &ent->contract);
	ptsched_client_show(client);
	if (!ends)
		return;
	trace_ptsched_release(ent);
	ptsched_event(dev, ent, PTSCHED_EVENT_RELEASE);
	ptsp_release(&dev->policy, &ent->policy, handover_ns, now);
	dev->changed = true;
}

/**
 * ptsched_call_release - PTSCHED_IOC_RELEASE
 * @client: an attached client of the calling process
 * @arg: checked arguments
 *
 * Return: 0, or -EPERM if the client does not hold the turn.
 */
int ptsched_call_release(struct ptsched_client *client, struct ptsched_release *arg)
{
	struct ptsched_dev *dev = client->dev;
	u64 now = ptsched_lock(dev);
	struct ptsched_entity *ent = client->entity;
	int ret = ptsc_allow_in_turn(&client->contract);

	if (ret)
		goto out;
	ptsched_turn_charge(ent, arg->gpu_ns, arg->submissions, now);
	ptsched_turn_drop(client, arg->handover_ns, now);
	ptsched_entity_update(ent, now);
	if (!ptsched_client_may_act_on(client))
		ptsched_client_move(client, client->self, now);
out:
	ptsched_unlock(dev);
	return ret;
}
