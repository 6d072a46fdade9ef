// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows from decisions, without the lock of the device: threads that wait
 * are woken, so are those who poll, and listeners are sent events. Who gives the
 * lock back does at most BATCH of each, so that nobody pays for all that others
 * have opened; a work does the rest, and all of the sending.
 */
#include <linux/poll.h>
#include <linux/sched/task.h>
#include <linux/wait.h>

#include "core.h"

/* So many at once, of each kind. */
#define BATCH		16
/* Those who poll one client are woken by a work if there are more. */
#define MOST_POLLERS	8

struct batch {
	struct task_struct *threads[BATCH];
	struct ptsched_client *clients[BATCH];
	unsigned int nr_threads;
	unsigned int nr_clients;
};

static bool is_something_left(const struct ptsched_dev *dev)
{
	return !list_empty(&dev->admitting) || !list_empty(&dev->woken) ||
	       !list_empty(&dev->polled) || !kfifo_is_empty(&dev->events) || dev->events_lost;
}

/* Takes a part of what is to be done. */
static void take(struct ptsched_dev *dev, struct batch *batch)
{
	struct ptsched_client *client;

	lockdep_assert_held(&dev->lock);
	ptsched_turn_admit_some(dev, BATCH);
	batch->nr_threads = 0;
	while (batch->nr_threads < BATCH && !list_empty(&dev->woken))
		batch->threads[batch->nr_threads++] = ptsched_turn_next_woken(dev);
	batch->nr_clients = 0;
	while (batch->nr_clients < BATCH && !list_empty(&dev->polled)) {
		client = list_first_entry(&dev->polled, struct ptsched_client, polled);
		list_del_init(&client->polled);
		batch->clients[batch->nr_clients++] = client;
	}
}

static void wake_pollers(struct ptsched_client *client)
{
	bool hangup = READ_ONCE(client->contract.closed) ||
		      READ_ONCE(client->shared->state) & PTSCHED_STATE_DEAD;

	wake_up_interruptible_poll(&client->poll, EPOLLIN | EPOLLRDNORM | EPOLLPRI |
				   (hangup ? EPOLLHUP : 0));
}

static bool is_crowded(struct wait_queue_head *queue)
{
	const struct list_head *entry;
	unsigned int count = 0;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_for_each(entry, &queue->head)
		if (++count > MOST_POLLERS)
			break;
	spin_unlock_irqrestore(&queue->lock, flags);
	return count > MOST_POLLERS;
}

/**
 * ptsched_crowd_wake - wake those who poll a client, many as they are
 * @work: the client's, which has a reference to it
 */
void ptsched_crowd_wake(struct work_struct *work)
{
	struct ptsched_client *client = container_of(work, struct ptsched_client, crowd);

	wake_pollers(client);
	ptsched_client_put(client);
}

/* Uses up the reference. */
static void tell_pollers(struct ptsched_client *client)
{
	if (!is_crowded(&client->poll))
		wake_pollers(client);
	else if (queue_work(ptsched_wq, &client->crowd))
		return;
	/* Else it was queued already, and wakes them later than this. */
	ptsched_client_put(client);
}

/* Uses up the references. */
static void tell(struct batch *batch)
{
	unsigned int i;

	for (i = 0; i < batch->nr_threads; i++) {
		wake_up_process(batch->threads[i]);
		put_task_struct(batch->threads[i]);
	}
	for (i = 0; i < batch->nr_clients; i++)
		tell_pollers(batch->clients[i]);
}

DEFINE_STATIC_KEY_FALSE(ptsched_measures_holds);

static void give_back(struct ptsched_dev *dev) __releases(&dev->lock)
{
	if (static_branch_unlikely(&ptsched_measures_holds))
		dev->longest_hold_ns = max(dev->longest_hold_ns,
					   ktime_get_ns() - dev->locked_ns);
	spin_unlock_bh(&dev->lock);
}

/* Gives the lock back and does a part of what there is to tell; whether something is left. */
static noinline bool give_back_and_tell(struct ptsched_dev *dev) __releases(&dev->lock)
{
	struct ptsched_entity *ent, *next;
	struct batch batch;
	LIST_HEAD(graves);
	bool left;

	take(dev, &batch);
	left = is_something_left(dev);
	list_splice_init(&dev->graveyard, &graves);
	give_back(dev);
	tell(&batch);
	list_for_each_entry_safe(ent, next, &graves, grave)
		ptsched_entity_put(ent);
	return left;
}

/* Lets the policy decide and gives the lock back; whether something is left to be told. */
static inline bool unlock(struct ptsched_dev *dev) __releases(&dev->lock)
{
	if (dev->changed)
		ptsched_run(dev, dev->locked_ns);
	if (is_something_left(dev) || !list_empty(&dev->graveyard))
		return give_back_and_tell(dev);
	/* As nearly always. */
	give_back(dev);
	return false;
}

/**
 * ptsched_unlock - let the policy decide, unlock a device and tell of it
 * @dev: the device, to which the caller has a reference
 *
 * Entities that left meanwhile are freed.
 */
void ptsched_unlock(struct ptsched_dev *dev) __releases(&dev->lock)
{
	if (!unlock(dev))
		return;
	kref_get(&dev->ref);
	if (!queue_work(ptsched_wq, &dev->telling))
		ptsched_dev_put(dev);
}

/* In their order, as nobody else sends those of this device. */
static void send_events(struct ptsched_dev *dev)
{
	struct ptsched_told told;
	bool lost, found;

	do {
		ptsched_lock(dev);
		lost = dev->events_lost;
		dev->events_lost = false;
		found = kfifo_get(&dev->events, &told);
		give_back(dev);
		if (lost)
			ptsched_listeners_lose();
		if (found) {
			ptsched_listeners_tell(dev, &told);
			put_pid(told.pid);
		}
		cond_resched();
	} while (found);
}

static void tell_rest(struct work_struct *work)
{
	struct ptsched_dev *dev = container_of(work, struct ptsched_dev, telling);

	do {
		send_events(dev);
		ptsched_lock(dev);
	} while (unlock(dev));
	ptsched_dev_put(dev);
}

/**
 * ptsched_tell_init - a new device, of which there is nothing to tell
 * @dev: the device
 */
void ptsched_tell_init(struct ptsched_dev *dev)
{
	INIT_LIST_HEAD(&dev->admitting);
	INIT_LIST_HEAD(&dev->woken);
	INIT_LIST_HEAD(&dev->polled);
	INIT_LIST_HEAD(&dev->late);
	INIT_LIST_HEAD(&dev->asking);
	INIT_LIST_HEAD(&dev->graveyard);
	INIT_KFIFO(dev->events);
	INIT_WORK(&dev->telling, tell_rest);
}

/**
 * ptsched_poll_wake - those who poll a client are to look again
 * @client: the client, attached, its device locked
 */
void ptsched_poll_wake(struct ptsched_client *client)
{
	struct ptsched_dev *dev = client->dev;

	lockdep_assert_held(&dev->lock);
	/* Pairs with the barrier in ptsched_poll(). */
	if (!list_empty(&client->polled) || !wq_has_sleeper(&client->poll))
		return;
	kref_get(&client->ref);
	list_add_tail(&client->polled, &dev->polled);
}

/**
 * ptsched_event - tell those who listen, soon
 * @dev: the device, locked
 * @ent: the entity, or NULL if the event is the device's
 * @event: PTSCHED_EVENT_*
 *
 * Of an event that finds no room all listeners are told; of one that finds a
 * listener's buffer full, that listener.
 */
void ptsched_event(struct ptsched_dev *dev, struct ptsched_entity *ent, u32 event)
{
	struct ptsched_told told = { .event = event };

	lockdep_assert_held(&dev->lock);
	if (!ptsched_listeners())
		return;
	if (kfifo_is_full(&dev->events)) {
		dev->events_lost = true;
		return;
	}
	told.time_ns = dev->locked_ns;
	if (ent) {
		told.pid = get_pid(ent->pid);
		told.owner = ptsched_entity_owner(ent);
		memcpy(told.comm, ptsched_entity_comm(ent), sizeof(told.comm));
		told.budget_ns = ptsp_budget(&dev->policy, &ent->policy, told.time_ns);
		told.turn = ent->policy.turn;
	}
	kfifo_put(&dev->events, told);
}

/**
 * ptsched_tell_wait - tell those who listen that an entity waits, if it still does then
 * @ent: the entity, locked; it has asked for the turn
 *
 * Most are given it at once, and an event less is sent of them.
 */
void ptsched_tell_wait(struct ptsched_entity *ent)
{
	lockdep_assert_held(&ent->dev->lock);
	list_add_tail(&ent->asking, &ent->dev->asking);
}

/**
 * ptsched_tell_cancel - tell those who listen that an entity waits no more
 * @ent: the entity, locked; it has given up
 */
void ptsched_tell_cancel(struct ptsched_entity *ent)
{
	if (list_empty(&ent->asking))
		ptsched_event(ent->dev, ent, PTSCHED_EVENT_CANCEL);
	else
		list_del_init(&ent->asking);
}

/**
 * ptsched_tell_waits - tell of those that asked for the turn and were not given it
 * @dev: the device, locked; the policy has decided
 *
 * They are as many as one call can make ask.
 */
void ptsched_tell_waits(struct ptsched_dev *dev)
{
	struct ptsched_entity *ent, *next;

	lockdep_assert_held(&dev->lock);
	list_for_each_entry_safe(ent, next, &dev->asking, asking) {
		list_del_init(&ent->asking);
		if (ent->policy.state == PTSP_WAITING)
			ptsched_event(dev, ent, PTSCHED_EVENT_WAIT);
	}
}
