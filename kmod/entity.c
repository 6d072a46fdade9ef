// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entities: processes on a device.
 *
 * An entity joins with the first client that needs it and leaves with the last.
 * The death of its process ends it at once: usually by the process closing its
 * files, and where that is not seen, because another process shares its table of
 * files or keeps a mapping, by the wait queue behind pidfds.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "core.h"
#include "trace.h"

static struct kmem_cache *entity_cache;
static atomic64_t last_id;
static atomic_t nr_alive;

/**
 * ptsched_entity_of - the entity around the policy's part
 * @e: that part
 */
struct ptsched_entity *ptsched_entity_of(const struct ptsp_entity *e)
{
	return container_of(e, struct ptsched_entity, policy);
}

/* The leader of the process; NULL once the last thread is on its way out. */
static struct task_struct *living_task(struct pid *pid)
{
	struct task_struct *task = pid_task(pid, PIDTYPE_TGID);

	return task && atomic_read(&task->signal->live) ? task : NULL;
}

/**
 * ptsched_entity_weight - the weight now
 * @ent: the entity, locked
 *
 * Return: the weight that was set; else that of the nice of the group's leader;
 * the last one known if the process is gone.
 */
u32 ptsched_entity_weight(struct ptsched_entity *ent)
{
	struct task_struct *task;

	lockdep_assert_held(&ent->dev->lock);
	if (ent->weight_set)
		return ent->weight_set;
	/* The policy asks several times in one call. */
	if (ent->weight_visit == ent->dev->visit)
		return ent->weight;
	ent->weight_visit = ent->dev->visit;
	rcu_read_lock();
	task = pid_task(ent->pid, PIDTYPE_TGID);
	if (task)
		ent->weight = ptsp_nice_to_weight(ptsched_nice(task));
	rcu_read_unlock();
	return ent->weight;
}

/**
 * ptsched_entity_nice - the nice of the process, 0 if it is gone
 * @ent: the entity
 */
int ptsched_entity_nice(struct ptsched_entity *ent)
{
	struct task_struct *task;
	int nice = 0;

	rcu_read_lock();
	task = pid_task(ent->pid, PIDTYPE_TGID);
	if (task)
		nice = ptsched_nice(task);
	rcu_read_unlock();
	return nice;
}

/**
 * ptsched_entity_comm - the name of the process
 * @ent: the entity, locked
 */
const char *ptsched_entity_comm(struct ptsched_entity *ent)
{
	struct task_struct *task;

	lockdep_assert_held(&ent->dev->lock);
	rcu_read_lock();
	task = pid_task(ent->pid, PIDTYPE_TGID);
	/* task_lock() may not be taken here; the name always ends within its array. */
	if (task)
		strscpy_pad(ent->comm, task->comm, sizeof(ent->comm));
	rcu_read_unlock();
	return ent->comm;
}

/**
 * ptsched_entity_owner - the user to whom the process is shown
 * @ent: the entity, locked
 *
 * Return: the user whose it is in every respect, INVALID_UID if there is none; of a
 * process that is gone, the last one known.
 */
kuid_t ptsched_entity_owner(struct ptsched_entity *ent)
{
	struct task_struct *task;
	const struct cred *cred;

	lockdep_assert_held(&ent->dev->lock);
	rcu_read_lock();
	task = pid_task(ent->pid, PIDTYPE_TGID);
	if (task) {
		cred = __task_cred(task);
		ent->owner = uid_eq(cred->uid, cred->euid) && uid_eq(cred->uid, cred->suid) ?
			     cred->uid : INVALID_UID;
	}
	rcu_read_unlock();
	return ent->owner;
}

static u32 policy_weight(const struct ptsp_entity *e)
{
	return ptsched_entity_weight(ptsched_entity_of(e));
}

static void policy_signal(struct ptsp_entity *e, u32 old)
{
	struct ptsched_entity *ent = ptsched_entity_of(e);
	struct ptsched_client *client;
	u32 new = e->signals & ~old;

	lockdep_assert_held(&ent->dev->lock);
	if (new & PTSP_SIG_TURN)
		ptsched_turn_granted(ent);
	if (new & PTSP_SIG_CALLBACK) {
		trace_ptsched_callback(ent);
		ptsched_event(ent->dev, ent, PTSCHED_EVENT_CALLBACK);
		list_for_each_entry(client, &ent->members, link)
			WRITE_ONCE(client->shared->asker_cpu, ent->dev->asker_cpu);
	}
	if (new & PTSP_SIG_PREEMPT) {
		trace_ptsched_preempt(ent);
		ptsched_event(ent->dev, ent, PTSCHED_EVENT_PREEMPT);
	}
	ent->contract.tells_later = ptsched_announces_later(ent, e->signals ^ old);
	list_for_each_entry(client, &ent->members, link)
		ptsched_client_show(client);
	ent->contract.tells_later = false;
	if (old & PTSP_SIG_CALLBACK)
		ptsched_turn_admit(ent);
}

static void policy_forced(struct ptsp_entity *e)
{
	struct ptsched_entity *ent = ptsched_entity_of(e);

	trace_ptsched_forced(ent);
	ptsched_event(ent->dev, ent, PTSCHED_EVENT_FORCED);
}

const struct ptsp_ops ptsched_policy_ops = {
	.weight = policy_weight,
	.signal = policy_signal,
	.forced = policy_forced,
};

static int compare_pid(const void *key, const struct rb_node *node)
{
	const struct pid *pid = rb_entry(node, struct ptsched_entity, by_pid)->pid;

	return key == pid ? 0 : key < (const void *)pid ? -1 : 1;
}

static bool pid_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct ptsched_entity, by_pid)->pid <
	       rb_entry(b, struct ptsched_entity, by_pid)->pid;
}

static u64 id_of(const struct rb_node *node)
{
	return rb_entry(node, struct ptsched_entity, by_id)->id;
}

static bool id_less(struct rb_node *a, const struct rb_node *b)
{
	return id_of(a) < id_of(b);
}

/**
 * ptsched_entity_find - the entity of a process
 * @dev: the device, locked
 * @pid: the thread group
 */
struct ptsched_entity *ptsched_entity_find(struct ptsched_dev *dev, const struct pid *pid)
{
	struct rb_node *node;

	lockdep_assert_held(&dev->lock);
	node = rb_find(pid, &dev->by_pid, compare_pid);
	return node ? rb_entry(node, struct ptsched_entity, by_pid) : NULL;
}

/**
 * ptsched_entity_from - the first entity that has a number or a later one
 * @dev: the device, locked
 * @id: the number; they grow in the order of joining
 */
struct ptsched_entity *ptsched_entity_from(struct ptsched_dev *dev, u64 id)
{
	lockdep_assert_held(&dev->lock);
	return rb_entry_safe(ptsched_first_from(&dev->by_id, id, id_of), struct ptsched_entity,
			     by_id);
}

static void entity_release(struct kref *ref)
{
	struct ptsched_entity *ent = container_of(ref, struct ptsched_entity, ref);

	/* From here on process_died() is not called; before, it saw no reference. */
	remove_wait_queue(&ent->pid->wait_pidfd, &ent->death);
	put_pid(ent->pid);
	ptsched_dev_put(ent->dev);
	ptsched_user_free(ent->spare);
	kmem_cache_free(entity_cache, ent);
	if (atomic_dec_and_test(&nr_alive))
		wake_up_var(&nr_alive);
}

/**
 * ptsched_entity_put - drop a reference
 * @ent: the entity; its device must not be locked
 */
void ptsched_entity_put(struct ptsched_entity *ent)
{
	kref_put(&ent->ref, entity_release);
}

static void reap(struct work_struct *work)
{
	struct ptsched_entity *ent = container_of(work, struct ptsched_entity, reap);
	bool died;

	/* Pairs with process_died(): who comes after this queues again. */
	atomic_xchg(&ent->reaping, 0);
	rcu_read_lock();
	died = !living_task(ent->pid);
	rcu_read_unlock();
	if (died)
		ptsched_entity_end(ent);
	ptsched_entity_put(ent);
}

/*
 * Called with interrupts off and the lock of all tasks held, inside which no
 * lock of ours may be taken: a thread does the work.
 */
static int process_died(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	struct ptsched_entity *ent = container_of(entry, struct ptsched_entity, death);

	/* Queued once per run of reap(), so that each has one reference. */
	if (!atomic_xchg(&ent->reaping, 1) && kref_get_unless_zero(&ent->ref))
		queue_work(ptsched_wq, &ent->reap);
	return 0;
}

/**
 * ptsched_entity_new - make an entity, to be given to ptsched_entity_join()
 * @dev: the device, not locked
 * @pid: the thread group
 *
 * Return: the entity, or ERR_PTR(-ENOMEM), or ERR_PTR(-ESRCH) if the process is
 * gone.
 */
struct ptsched_entity *ptsched_entity_new(struct ptsched_dev *dev, struct pid *pid)
{
	struct ptsched_entity *ent;
	struct task_struct *task;

	ent = kmem_cache_alloc(entity_cache, GFP_KERNEL);
	if (!ent)
		return ERR_PTR(-ENOMEM);
	memset(ent, 0, sizeof(*ent));
	ent->spare = ptsched_user_new();
	if (!ent->spare) {
		kmem_cache_free(entity_cache, ent);
		return ERR_PTR(-ENOMEM);
	}
	atomic_inc(&nr_alive);
	ent->dev = dev;
	kref_get(&dev->ref);
	ent->pid = get_pid(pid);
	ent->owner = INVALID_UID;
	kref_init(&ent->ref);
	INIT_LIST_HEAD(&ent->owned);
	INIT_LIST_HEAD(&ent->members);
	INIT_LIST_HEAD(&ent->waiting);
	INIT_LIST_HEAD(&ent->admitting);
	INIT_LIST_HEAD(&ent->late);
	INIT_LIST_HEAD(&ent->asking);
	INIT_WORK(&ent->reap, reap);
	init_waitqueue_func_entry(&ent->death, process_died);
	/* Before the look at the process, so that its death is not missed. */
	add_wait_queue(&pid->wait_pidfd, &ent->death);

	rcu_read_lock();
	task = living_task(pid);
	if (task) {
		ent->spare->uid = task_uid(task);
		ent->weight = ptsp_nice_to_weight(ptsched_nice(task));
	}
	rcu_read_unlock();
	if (!task) {
		ptsched_entity_put(ent);
		return ERR_PTR(-ESRCH);
	}
	return ent;
}

/* The entity of the process that forked that of @ent, if it has one here. */
static struct ptsched_entity *parent_of(struct ptsched_entity *ent)
{
	struct ptsched_entity *parent = NULL;
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(ent->pid, PIDTYPE_TGID);
	if (task)
		parent = ptsched_entity_find(ent->dev,
					     task_tgid(rcu_dereference(task->real_parent)));
	rcu_read_unlock();
	return parent;
}

/**
 * ptsched_entity_join - bring a process to a device
 * @new: from ptsched_entity_new(), used up; its device is locked
 * @now: the time
 *
 * Return: @new, or the entity that the process has already, or ERR_PTR(-ESRCH) if
 * the process is gone. The caller adds a client or calls
 * ptsched_entity_leave_if_unused().
 */
struct ptsched_entity *ptsched_entity_join(struct ptsched_entity *new, u64 now)
{
	struct ptsched_dev *dev = new->dev;
	struct ptsched_entity *ent, *parent;

	lockdep_assert_held(&dev->lock);
	ent = ptsched_entity_find(dev, new->pid);
	if (ent || new->contract.dead) {
		list_add(&new->grave, &dev->graveyard);
		return ent && !ent->contract.dead ? ent : ERR_PTR(-ESRCH);
	}
	ptsched_accounts_sweep(dev, now);
	parent = parent_of(new);
	new->id = atomic64_inc_return(&last_id);
	new->joined = true;
	rb_add(&new->by_pid, &dev->by_pid, pid_less);
	rb_add(&new->by_id, &dev->by_id, id_less);
	ptsp_join(&dev->policy, &new->policy, ptsched_account_open(new, now),
		  parent ? &parent->policy : NULL, now);
	trace_ptsched_attach(new);
	ptsched_event(dev, new, PTSCHED_EVENT_ATTACH);
	return new;
}

/**
 * ptsched_entity_update - let the policy know whether anybody waits
 * @ent: the entity, locked
 * @now: the time
 *
 * It decides at ptsched_run() or ptsched_unlock().
 */
void ptsched_entity_update(struct ptsched_entity *ent, u64 now)
{
	struct ptsched_dev *dev = ent->dev;

	lockdep_assert_held(&dev->lock);
	if (dev->gone || !ent->joined)
		return;
	if (ent->policy.state == PTSP_WAITING && !ent->contract.nr_waiters) {
		ptsp_cancel(&dev->policy, &ent->policy, now);
		ptsched_tell_cancel(ent);
	} else if (ent->policy.state == PTSP_IDLE && ent->contract.nr_waiters) {
		ptsched_account_follow(ent, now);
		ptsp_wait(&dev->policy, &ent->policy, now);
		trace_ptsched_wait(ent);
		if (ptsched_listeners())
			ptsched_tell_wait(ent);
	}
	dev->changed = true;
}

/**
 * ptsched_entity_leaving - tell that the entity ends, before its turn does
 * @ent: the entity, locked
 */
void ptsched_entity_leaving(struct ptsched_entity *ent)
{
	lockdep_assert_held(&ent->dev->lock);
	if (ent->leaving)
		return;
	ent->leaving = true;
	trace_ptsched_exit(ent);
	ptsched_event(ent->dev, ent, PTSCHED_EVENT_EXIT);
}

/**
 * ptsched_entity_leave_if_unused - the last client of an entity may be gone
 * @ent: the entity, locked; freed at ptsched_unlock() if it was the last
 * @now: the time
 */
void ptsched_entity_leave_if_unused(struct ptsched_entity *ent, u64 now)
{
	struct ptsched_dev *dev = ent->dev;

	lockdep_assert_held(&dev->lock);
	if (!ent->joined || !ptsc_is_unused(&ent->contract))
		return;
	ptsched_entity_leaving(ent);
	ent->joined = false;
	rb_erase(&ent->by_pid, &dev->by_pid);
	rb_erase(&ent->by_id, &dev->by_id);
	list_del_init(&ent->admitting);
	list_del_init(&ent->late);
	list_del_init(&ent->asking);
	ptsched_group_leave(ent);
	ptsp_leave(&dev->policy, &ent->policy, now);
	ptsched_account_close(ent);
	list_add(&ent->grave, &dev->graveyard);
	dev->changed = true;
}

/* So many clients are ended each time that the device is locked. */
#define END_AT_ONCE	16

/* Whether there is more. */
static bool end_some(struct ptsched_entity *ent, u64 now)
{
	struct ptsched_client *client, *next;
	unsigned int left = END_AT_ONCE;

	lockdep_assert_held(&ent->dev->lock);
	ent->contract.dead = true;
	if (!ent->joined)
		return false;
	ptsched_entity_leaving(ent);
	list_for_each_entry_safe(client, next, &ent->owned, owned_link) {
		if (!left--)
			return true;
		ptsched_client_close(client, now);
	}
	list_for_each_entry_safe(client, next, &ent->members, link) {
		if (client->contract.holds)
			continue;
		if (!left--)
			return true;
		ptsched_client_move(client, client->self, now);
	}
	ptsched_entity_leave_if_unused(ent, now);
	return false;
}

/**
 * ptsched_entity_end - the process is gone, or nearly so
 * @ent: the entity, with a reference; its device must not be locked
 *
 * Its clients are closed. Others that act for it do so until they release the
 * turn that they have, and then for themselves.
 */
void ptsched_entity_end(struct ptsched_entity *ent)
{
	struct ptsched_dev *dev = ent->dev;
	bool more;

	do {
		more = end_some(ent, ptsched_lock(dev));
		ptsched_unlock(dev);
	} while (more);
}

/** ptsched_entity_init - 0 or -ENOMEM */
int ptsched_entity_init(void)
{
	entity_cache = ptsched_cache_create("ptsched_entity", sizeof(struct ptsched_entity));
	return entity_cache ? 0 : -ENOMEM;
}

/**
 * ptsched_entity_await_end - wait until the last entity is freed
 *
 * All clients are gone, so that none comes; but the death of a process may still
 * be about to have its entity reaped.
 */
void ptsched_entity_await_end(void)
{
	wait_var_event(&nr_alive, !atomic_read(&nr_alive));
}

/** ptsched_entity_exit - undo ptsched_entity_init(); all clients are gone */
void ptsched_entity_exit(void)
{
	kmem_cache_destroy(entity_cache);
}
