// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients: what an open file stands for, from attaching to a device to its end.
 * The end comes when the process that attached closes the file (flush), exits,
 * or dies; the file itself may live on in a child or a mapping.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/gfp.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "core.h"
#include "trace.h"

static struct kmem_cache *client_cache;

static void tell(struct ptsched_client *client)
{
	client->untold = false;
	/* Pairs with the owner's load of events, before that of the state. */
	smp_store_release(&client->shared->events, client->shared->events + 1);
	ptsched_poll_wake(client);
}

/**
 * ptsched_client_tell - tell who polls what was to be told later, if anything was
 * @client: the client, attached, its device locked
 */
void ptsched_client_tell(struct ptsched_client *client)
{
	lockdep_assert_held(&client->dev->lock);
	if (client->untold)
		tell(client);
}

/**
 * ptsched_client_show - bring the page of a client up to date
 * @client: the client, attached, its device locked
 */
void ptsched_client_show(struct ptsched_client *client)
{
	struct ptsched_page *page = client->shared;
	const struct ptsched_entity *ent = client->entity;
	u32 old = page->state;
	u32 state;

	lockdep_assert_held(&client->dev->lock);
	state = ptsc_state(&client->contract, ent ? &ent->policy : NULL, client->dev->gone);
	if (state == old)
		return;
	/* Pairs with the owner's load of the state, before what a grant wrote. */
	smp_store_release(&page->state, state);
	if (!ptsc_is_event(state ^ old))
		return;
	if (ent && ent->contract.tells_later)
		client->untold = true;
	else
		tell(client);
}

/** ptsched_client_new - a client that is not attached; NULL without memory */
struct ptsched_client *ptsched_client_new(void)
{
	struct ptsched_client *client;

	BUILD_BUG_ON(sizeof(*client->shared) > PAGE_SIZE);
	client = kmem_cache_alloc(client_cache, GFP_KERNEL);
	if (!client)
		return NULL;
	memset(client, 0, sizeof(*client));
	client->shared = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!client->shared) {
		kmem_cache_free(client_cache, client);
		return NULL;
	}
	client->shared->version = PTSCHED_VERSION_MAJOR;
	client->shared->size = sizeof(*client->shared);
	kref_init(&client->ref);
	mutex_init(&client->attach_lock);
	INIT_LIST_HEAD(&client->waiters);
	INIT_LIST_HEAD(&client->waiting);
	INIT_LIST_HEAD(&client->polled);
	init_waitqueue_head(&client->poll);
	INIT_WORK(&client->crowd, ptsched_crowd_wake);
	return client;
}

static void client_release(struct kref *ref)
{
	struct ptsched_client *client = container_of(ref, struct ptsched_client, ref);

	if (client->dev) {
		put_pid(client->owner);
		ptsched_dev_put(client->dev);
	}
	/* A mapping keeps the file, so that none is left. */
	free_page((unsigned long)client->shared);
	kmem_cache_free(client_cache, client);
}

/**
 * ptsched_client_put - drop a reference
 * @client: the client; its device must not be locked
 */
void ptsched_client_put(struct ptsched_client *client)
{
	kref_put(&client->ref, client_release);
}

/**
 * ptsched_client_free - the file is gone, nobody can call any more
 * @client: the client
 */
void ptsched_client_free(struct ptsched_client *client)
{
	struct ptsched_dev *dev = client->dev;
	u64 now;

	if (dev) {
		now = ptsched_lock(dev);
		ptsched_client_close(client, now);
		ptsched_unlock(dev);
	}
	ptsched_client_put(client);
}

/* After a change of the members, or of what one of them can do. */
static void set_preemptible(struct ptsched_entity *ent, u64 now)
{
	bool preemptible = ptsc_is_preemptible(&ent->contract);

	if (preemptible == ent->policy.preemptible)
		return;
	ptsp_set_preemptible(&ent->dev->policy, &ent->policy, preemptible, now);
	ent->dev->changed = true;
}

/* In entity->members, which is counted by the contract. */
static void link_to(struct ptsched_client *client, struct ptsched_entity *ent)
{
	lockdep_assert_held(&client->dev->lock);
	client->entity = ent;
	list_add_tail(&client->link, &ent->members);
}

static void unlink_client(struct ptsched_client *client)
{
	lockdep_assert_held(&client->dev->lock);
	ptsched_client_tell(client);
	list_del(&client->link);
	list_del_init(&client->waiting);
}

static int attach(struct ptsched_client *client, struct ptsched_dev *dev,
		  struct ptsched_attach *arg)
{
	struct ptsched_entity *ent;
	int ret;
	u64 now;

	ent = ptsched_entity_new(dev, task_tgid(current));
	if (IS_ERR(ent))
		return PTR_ERR(ent);
	now = ptsched_lock(dev);
	if (dev->gone) {
		ptsched_unlock(dev);
		ptsched_entity_put(ent);
		return -ENODEV;
	}
	ent = ptsched_entity_join(ent, now);
	ret = IS_ERR(ent) ? PTR_ERR(ent) : ptsc_allow_attach(&ent->contract);
	if (ret) {
		ptsched_unlock(dev);
		return ret;
	}
	client->owner = get_pid(ent->pid);
	client->self = ent;
	list_add_tail(&client->owned_link, &ent->owned);
	ptsc_attach(&client->contract, &ent->contract, arg->mechanism);
	/* Pairs with check_caller(): who sees the device sees the rest. */
	smp_store_release(&client->dev, dev);
	link_to(client, ent);
	set_preemptible(ent, now);
	ptsched_client_show(client);
	dev->changed = true;
	arg->device_id = dev->id;
	arg->entity = ent->id;
	ptsched_unlock(dev);
	return 0;
}

/**
 * ptsched_call_attach - PTSCHED_IOC_ATTACH
 * @client: the client
 * @arg: checked arguments, outputs filled in on success
 *
 * Return: 0, -EACCES, -EBADF, -EBUSY, -EINVAL, -EMFILE, -ENODEV, -ENOMEM or -EPERM.
 */
int ptsched_call_attach(struct ptsched_client *client, struct ptsched_attach *arg)
{
	struct ptsched_dev *dev;
	int ret;

	mutex_lock(&client->attach_lock);
	if (client->dev) {
		ret = ptsc_check_attach_again(client->owner == task_tgid(current));
		goto out;
	}
	dev = ptsched_dev_find(arg->device);
	if (IS_ERR(dev)) {
		ret = PTR_ERR(dev);
		goto out;
	}
	ret = ptsched_node_check(dev, arg);
	if (!ret)
		ret = attach(client, dev, arg);
	if (ret)
		ptsched_dev_put(dev);
out:
	mutex_unlock(&client->attach_lock);
	return ret;
}

/**
 * ptsched_call_report - PTSCHED_IOC_REPORT
 * @client: an attached client of the calling process
 * @arg: checked arguments
 *
 * Return: 0, or -EPERM if the client does not hold the turn.
 */
int ptsched_call_report(struct ptsched_client *client, struct ptsched_report *arg)
{
	struct ptsched_dev *dev = client->dev;
	u64 now = ptsched_lock(dev);
	int ret = ptsc_allow_in_turn(&client->contract);

	if (!ret) {
		ptsched_turn_charge(client->entity, arg->gpu_ns, arg->submissions, now);
		dev->changed = true;
	}
	ptsched_unlock(dev);
	return ret;
}

/**
 * ptsched_call_ack - PTSCHED_IOC_ACK
 * @client: an attached client of the calling process
 * @arg: checked arguments
 *
 * Return: 0, or -ECANCELED if the file was closed.
 */
int ptsched_call_ack(struct ptsched_client *client, struct ptsched_ack *arg)
{
	struct ptsched_dev *dev = client->dev;
	u64 now = ptsched_lock(dev);
	struct ptsched_entity *ent = client->entity;
	int ret = ptsc_allow_call(&client->contract);

	if (ret)
		goto out;
	WRITE_ONCE(client->acked, arg->events);
	trace_ptsched_ack(ent, arg->events, arg->drain_ns);
	if (ptsc_drains(&client->contract, &ent->contract, arg->drain_ns)) {
		ptsp_drain(&dev->policy, &ent->policy, arg->drain_ns, now);
		ptsched_entity_update(ent, now);
	}
out:
	ptsched_unlock(dev);
	return ret;
}

/**
 * ptsched_call_mechanism - PTSCHED_IOC_MECHANISM
 * @client: an attached client of the calling process
 * @arg: checked arguments
 *
 * Return: 0, or -ECANCELED.
 */
int ptsched_call_mechanism(struct ptsched_client *client, struct ptsched_mechanism *arg)
{
	struct ptsched_dev *dev = client->dev;
	u64 now = ptsched_lock(dev);
	int ret = ptsc_allow_call(&client->contract);

	if (!ret) {
		ptsc_set_mechanism(&client->contract, &client->self->contract,
				   &client->entity->contract, arg->mechanism);
		set_preemptible(client->entity, now);
	}
	ptsched_unlock(dev);
	return ret;
}

/**
 * ptsched_call_hand_over - PTSCHED_IOC_HAND_OVER
 * @client: an attached client of the calling process
 * @arg: checked arguments
 *
 * Return: 0, or -ECANCELED.
 */
int ptsched_call_hand_over(struct ptsched_client *client, struct ptsched_hand_over *arg)
{
	struct ptsched_dev *dev = client->dev;
	int ret;

	ptsched_lock(dev);
	ret = ptsc_allow_call(&client->contract);
	if (!ret)
		client->contract.handed_over = true;
	ptsched_unlock(dev);
	return ret;
}

static void set_giver(struct ptsched_client *client, struct ptsched_client *giver)
{
	lockdep_assert_held(&client->dev->lock);
	if (giver)
		kref_get(&giver->ref);
	/* The device, whose lock is held, is not freed with it: @client has it, too. */
	if (client->giver)
		ptsched_client_put(client->giver);
	client->giver = giver;
}

/**
 * ptsched_client_move - let a client take the turns of another entity
 * @client: the client, its device locked; it does not hold the turn
 * @to: the entity
 * @now: the time
 *
 * Threads that wait do so for @to from now on.
 */
void ptsched_client_move(struct ptsched_client *client, struct ptsched_entity *to, u64 now)
{
	struct ptsched_entity *from = client->entity;

	lockdep_assert_held(&client->dev->lock);
	set_giver(client, NULL);
	if (from == to)
		return;
	unlink_client(client);
	ptsc_move(&client->contract, &from->contract, &to->contract);
	link_to(client, to);
	if (client->contract.nr_waiters)
		list_add_tail(&client->waiting, &to->waiting);
	set_preemptible(from, now);
	set_preemptible(to, now);
	ptsched_turn_admit(to);
	ptsched_client_show(client);
	ptsched_entity_update(from, now);
	ptsched_entity_leave_if_unused(from, now);
	ptsched_entity_update(to, now);
}

/* Of the caller, who has no privilege. */
static int check_requester(struct ptsched_client *client, struct pid *pid)
{
	struct ptsched_entity *ent = ptsched_entity_find(client->dev, pid);
	struct task_struct *task;
	bool same_user = false;
	u32 weight = 0;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_TGID);
	if (task) {
		same_user = uid_eq(task_euid(task), current_euid());
		weight = ptsp_nice_to_weight(ptsched_nice(task));
	}
	rcu_read_unlock();
	if (ent)
		weight = ptsched_entity_weight(ent);
	return ptsc_allow_requester(same_user, weight, ptsched_entity_weight(client->self));
}

static int check_act_for(struct ptsched_client *client, struct pid *pid,
			 const struct ptsched_client *giver, bool allowed)
{
	const struct ptsc_client *named = giver ? &giver->contract : NULL;
	int ret = ptsc_allow_act_for(&client->contract, named, client->dev->gone);

	if (ret || !pid || allowed || ptsc_is_given(named))
		return ret;
	return check_requester(client, pid);
}

static int act_for(struct ptsched_client *client, struct pid *pid, struct ptsched_client *giver,
		   bool allowed)
{
	struct ptsched_entity *new = NULL, *ent;
	struct ptsched_dev *dev = client->dev;
	int ret;
	u64 now;

	if (pid) {
		new = ptsched_entity_new(dev, pid);
		if (IS_ERR(new))
			return PTR_ERR(new);
	}
	now = ptsched_lock(dev);
	ret = check_act_for(client, pid, giver, allowed);
	if (ret) {
		ptsched_unlock(dev);
		if (new)
			ptsched_entity_put(new);
		return ret;
	}
	ent = new ? ptsched_entity_join(new, now) : client->self;
	ret = IS_ERR(ent) ? PTR_ERR(ent) :
	      ptsc_allow_member(&ent->contract, &client->self->contract, &client->entity->contract);
	if (!ret) {
		ptsched_client_move(client, ent, now);
		set_giver(client, giver);
	}
	ptsched_unlock(dev);
	return ret;
}

/**
 * ptsched_client_act_for - PTSCHED_IOC_ACT_FOR
 * @client: an attached client of the calling process
 * @pid: the requester, NULL: oneself
 * @giver: the client of the requester, on the same device, by which it was named; or NULL
 *
 * Return: 0, -EBUSY, -ECANCELED, -EMFILE, -ENODEV, -ENOMEM, -EPERM or -ESRCH.
 */
int ptsched_client_act_for(struct ptsched_client *client, struct pid *pid,
			   struct ptsched_client *giver)
{
	int ret = act_for(client, pid, giver, false);

	/* Asked for only where it is needed, since that is noted, and without the lock. */
	if (ret == -EPERM && capable(CAP_SYS_NICE))
		ret = act_for(client, pid, giver, true);
	return ret;
}

/**
 * ptsched_client_close - the client ends, its turn at once
 * @client: an attached client, its device locked
 * @now: the time
 */
void ptsched_client_close(struct ptsched_client *client, u64 now)
{
	struct ptsched_entity *ent = client->entity;
	struct ptsched_entity *self = client->self;

	lockdep_assert_held(&client->dev->lock);
	if (client->contract.closed)
		return;
	/* Looked at without the lock by who waits and by who polls. */
	WRITE_ONCE(client->contract.closed, true);
	if (ptsc_is_last(&self->contract, &ent->contract))
		ptsched_entity_leaving(self);
	ptsched_turn_refuse(client);
	set_giver(client, NULL);
	if (client->contract.holds)
		ptsched_turn_drop(client, 0, now);
	unlink_client(client);
	list_del(&client->owned_link);
	ptsc_detach(&client->contract, &self->contract, &ent->contract);
	set_preemptible(ent, now);
	client->entity = NULL;
	client->self = NULL;
	ptsched_client_show(client);
	ptsched_poll_wake(client);
	ptsched_entity_update(ent, now);
	ptsched_entity_leave_if_unused(ent, now);
	ptsched_entity_leave_if_unused(self, now);
}

/**
 * ptsched_client_flush - a process closes a descriptor of the file
 * @client: the client
 *
 * Nothing happens unless it is the owner: a child that closes what it inherited
 * changes nothing.
 */
void ptsched_client_flush(struct ptsched_client *client)
{
	/* Pairs with attach(). */
	struct ptsched_dev *dev = smp_load_acquire(&client->dev);
	struct ptsched_entity *ending = NULL;
	u64 now;

	if (!dev || client->owner != task_tgid(current))
		return;
	now = ptsched_lock(dev);
	/* In its exit a process ends as a whole, not file by file. */
	if (client->self && !atomic_read(&current->signal->live)) {
		ending = client->self;
		kref_get(&ending->ref);
	} else {
		ptsched_client_close(client, now);
	}
	ptsched_unlock(dev);
	if (!ending)
		return;
	ptsched_entity_end(ending);
	ptsched_entity_put(ending);
}

/** ptsched_clients_init - 0 or -ENOMEM */
int ptsched_clients_init(void)
{
	client_cache = ptsched_cache_create("ptsched_client", sizeof(struct ptsched_client));
	return client_cache ? 0 : -ENOMEM;
}

/** ptsched_clients_exit - all clients are gone */
void ptsched_clients_exit(void)
{
	kmem_cache_destroy(client_cache);
}
