// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events, to the sockets that asked for them by PTSCHED_CMD_SUBSCRIBE. Each is sent what
 * its opener may see, with process numbers that mean something to it: a multicast group
 * would show all the same, of whatever namespace they are.
 */
#include <linux/kref.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "core.h"

/**
 * struct listener - a socket
 * @node: in listeners, by @net and @portid
 * @ref: held by the tree, and by who sends
 * @net: its network namespace, with a reference
 * @portid: its number there
 * @viewer: who opened it
 * @lost: some events could not be sent, of which it has not been told
 */
struct listener {
	struct rb_node node;
	struct kref ref;
	struct net *net;
	u32 portid;
	struct ptsched_viewer viewer;
	bool lost;
};

static struct rb_root listeners = RB_ROOT;
static DEFINE_SPINLOCK(listeners_lock);
unsigned int ptsched_nr_listeners;

static void listener_release(struct kref *ref)
{
	struct listener *listener = container_of(ref, struct listener, ref);

	ptsched_viewer_exit(&listener->viewer);
	put_net(listener->net);
	kfree(listener);
}

static void listener_put(struct listener *listener)
{
	kref_put(&listener->ref, listener_release);
}

static int compare(const struct listener *a, const struct net *net, u32 portid)
{
	if (a->net != net)
		return a->net < net ? -1 : 1;
	return a->portid < portid ? -1 : a->portid > portid;
}

static bool listener_less(struct rb_node *a, const struct rb_node *b)
{
	const struct listener *other = rb_entry(b, struct listener, node);

	return compare(rb_entry(a, struct listener, node), other->net, other->portid) < 0;
}

/* The first that is not before a place in the order, or not at it, either; NULL: none. */
static struct listener *find_from(const struct net *net, u32 portid, bool after)
{
	struct rb_node *node = listeners.rb_node;
	struct listener *listener, *first = NULL;
	int order;

	lockdep_assert_held(&listeners_lock);
	while (node) {
		listener = rb_entry(node, struct listener, node);
		order = compare(listener, net, portid);
		if (order > 0 || (!order && !after)) {
			first = listener;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return first;
}

/* The one after @last, or the first; with a reference, for that of @last. */
static struct listener *next_listener(struct listener *last)
{
	struct listener *next;

	spin_lock(&listeners_lock);
	next = last ? find_from(last->net, last->portid, true) : find_from(NULL, 0, false);
	if (next)
		kref_get(&next->ref);
	spin_unlock(&listeners_lock);
	if (last)
		listener_put(last);
	return next;
}

/* Takes the listener of a socket out of the tree; NULL: there is none. */
static struct listener *take_out(const struct net *net, u32 portid)
{
	struct listener *listener = find_from(net, portid, false);

	if (!listener || compare(listener, net, portid))
		return NULL;
	rb_erase(&listener->node, &listeners);
	WRITE_ONCE(ptsched_nr_listeners, ptsched_nr_listeners - 1);
	return listener;
}

/**
 * ptsched_listen - PTSCHED_CMD_SUBSCRIBE
 * @skb: the request
 * @info: its parts
 *
 * Return: 0 or -ENOMEM.
 */
int ptsched_listen(struct sk_buff *skb, struct genl_info *info)
{
	struct listener *listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT), *old;

	if (!listener)
		return -ENOMEM;
	kref_init(&listener->ref);
	listener->net = get_net(genl_info_net(info));
	listener->portid = info->snd_portid;
	ptsched_viewer_init(&listener->viewer, skb);
	spin_lock(&listeners_lock);
	old = take_out(listener->net, listener->portid);
	rb_add(&listener->node, &listeners, listener_less);
	WRITE_ONCE(ptsched_nr_listeners, ptsched_nr_listeners + 1);
	spin_unlock(&listeners_lock);
	if (old)
		listener_put(old);
	return 0;
}

static int socket_closed(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;
	struct listener *listener;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	spin_lock(&listeners_lock);
	listener = take_out(notify->net, notify->portid);
	spin_unlock(&listeners_lock);
	if (listener)
		listener_put(listener);
	return NOTIFY_DONE;
}

static struct notifier_block closings = { .notifier_call = socket_closed };

static size_t event_size(void)
{
	return 3 * nla_total_size(sizeof(u32)) + 3 * nla_total_size_64bit(sizeof(u64)) +
	       nla_total_size(TASK_COMM_LEN);
}

static int put_event(struct sk_buff *skb, const struct ptsched_dev *dev,
		     const struct ptsched_told *told, u32 pid)
{
	if (nla_put_u32(skb, PTSCHED_A_EVENT, told->event) ||
	    nla_put_u64_64bit(skb, PTSCHED_A_TIME_NS, told->time_ns, PTSCHED_A_PAD))
		return -EMSGSIZE;
	if (told->event == PTSCHED_EVENT_LOST)
		return 0;
	if (nla_put_u32(skb, PTSCHED_A_DEVICE_ID, dev->id))
		return -EMSGSIZE;
	if (!told->pid)
		return 0;
	if (nla_put_u32(skb, PTSCHED_A_PID, pid) ||
	    nla_put_string(skb, PTSCHED_A_COMM, told->comm) ||
	    nla_put_s64(skb, PTSCHED_A_BUDGET_NS, told->budget_ns, PTSCHED_A_PAD) ||
	    nla_put_u64_64bit(skb, PTSCHED_A_TURN, told->turn, PTSCHED_A_PAD))
		return -EMSGSIZE;
	return 0;
}

/* False: there was no memory. One whose buffer is full is told so by netlink. */
static bool send(const struct listener *listener, const struct ptsched_dev *dev,
		 const struct ptsched_told *told, u32 pid)
{
	struct sk_buff *skb = genlmsg_new(event_size(), GFP_KERNEL);
	void *header;

	if (!skb)
		return false;
	header = genlmsg_put(skb, 0, 0, &ptsched_genl_family, 0, PTSCHED_CMD_EVENT);
	if (!header || put_event(skb, dev, told, pid)) {
		nlmsg_free(skb);
		return false;
	}
	genlmsg_end(skb, header);
	genlmsg_unicast(listener->net, skb, listener->portid);
	return true;
}

/**
 * ptsched_listeners_tell - send an event to those who may see it; may sleep
 * @dev: the device
 * @told: the event
 */
void ptsched_listeners_tell(const struct ptsched_dev *dev, const struct ptsched_told *told)
{
	const struct ptsched_told loss = { .event = PTSCHED_EVENT_LOST, .time_ns = told->time_ns };
	struct listener *listener = NULL;
	u32 pid = 0;

	while ((listener = next_listener(listener))) {
		if (told->pid) {
			pid = ptsched_viewer_pid(&listener->viewer, told->pid, told->owner);
			if (!pid)
				continue;
		}
		if (xchg(&listener->lost, false) && !send(listener, dev, &loss, 0))
			WRITE_ONCE(listener->lost, true);
		else if (!send(listener, dev, told, pid))
			WRITE_ONCE(listener->lost, true);
		cond_resched();
	}
}

/** ptsched_listeners_lose - an event is lost: all are told before the next */
void ptsched_listeners_lose(void)
{
	struct listener *listener = NULL;

	while ((listener = next_listener(listener)))
		WRITE_ONCE(listener->lost, true);
}

/** ptsched_listeners_init - 0 or a negative errno */
int ptsched_listeners_init(void)
{
	return netlink_register_notifier(&closings);
}

/** ptsched_listeners_exit - forget all; none comes any more */
void ptsched_listeners_exit(void)
{
	struct listener *listener, *next;

	netlink_unregister_notifier(&closings);
	rbtree_postorder_for_each_entry_safe(listener, next, &listeners, node)
		listener_put(listener);
	listeners = RB_ROOT;
	WRITE_ONCE(ptsched_nr_listeners, 0);
}
