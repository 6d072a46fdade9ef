// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: processes of one user, on whatever devices, that are to have their turns
 * together, since they wait for each other (policy/gang.h).
 *
 * A group is what a name means to a user in a pid namespace, for as long as one of
 * its processes is there. That a group goes first is decided under the lock of one
 * device and told to the others by a work, without it: no two devices are ever locked
 * at once.
 */
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core.h"

/**
 * struct ptsched_gang - processes that are to have their turns together
 * @node: G in groups
 * @leading: G in leading_groups
 * @uid: C whose group it is
 * @pid_ns: C number of the namespace
 * @name: C as it says
 * @gang: G the policy's part
 */
struct ptsched_gang {
	struct rb_node node;
	struct list_head leading;
	kuid_t uid;
	unsigned int pid_ns;
	char name[PTSCHED_NAME_LEN];
	struct ptsp_gang gang;
};

/**
 * struct ptsched_rank - an entity's part in a group
 * @policy: G the policy's part
 * @ent: C the entity, which is no member any more before it is freed
 * @group: C the group
 */
struct ptsched_rank {
	struct ptsp_member policy;
	struct ptsched_entity *ent;
	struct ptsched_gang *group;
};

/* G: inside of dev->lock; innermost. */
static DEFINE_SPINLOCK(groups_lock);
static struct rb_root groups = RB_ROOT;
/* Of which the devices have not been told yet. */
static LIST_HEAD(leading_groups);

static int compare(const struct ptsched_gang *a, const struct ptsched_gang *b)
{
	if (!uid_eq(a->uid, b->uid))
		return uid_lt(a->uid, b->uid) ? -1 : 1;
	if (a->pid_ns != b->pid_ns)
		return a->pid_ns < b->pid_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_nodes(struct rb_node *new, const struct rb_node *node)
{
	return compare(rb_entry(new, struct ptsched_gang, node),
		       rb_entry(node, struct ptsched_gang, node));
}

static struct ptsched_rank *rank_of(struct ptsp_member *member)
{
	return container_of(member, struct ptsched_rank, policy);
}

/* One that leads and has not been told: its members, with references, and until when. */
static unsigned int take_leading(struct ptsched_entity *ents[PTSP_GANG_MAX], u64 *until_ns)
{
	struct ptsched_gang *group;
	struct ptsp_member *member;
	unsigned int n = 0;

	spin_lock_bh(&groups_lock);
	group = list_first_entry_or_null(&leading_groups, struct ptsched_gang, leading);
	if (group) {
		list_del_init(&group->leading);
		*until_ns = group->gang.until_ns;
		for (member = ptsp_gang_first(&group->gang); member;
		     member = ptsp_gang_next(member)) {
			ents[n] = rank_of(member)->ent;
			kref_get(&ents[n++]->ref);
		}
	}
	spin_unlock_bh(&groups_lock);
	return n;
}

static void lead_with(struct ptsched_entity *ent, u64 until_ns)
{
	struct ptsched_dev *dev = ent->dev;
	u64 now = ptsched_lock(dev);

	if (ent->joined && !dev->gone) {
		ptsp_lead(&dev->policy, &ent->policy, until_ns, now);
		dev->changed = true;
	}
	ptsched_unlock(dev);
	ptsched_entity_put(ent);
}

static void lead(struct work_struct *work)
{
	struct ptsched_entity *ents[PTSP_GANG_MAX];
	unsigned int i, n;
	u64 until_ns;

	while ((n = take_leading(ents, &until_ns)))
		for (i = 0; i < n; i++)
			lead_with(ents[i], until_ns);
}

static DECLARE_WORK(leading, lead);

/* Of a group's process that has the turn. */
static void try_to_lead(struct ptsched_rank *rank, u64 now)
{
	struct ptsched_entity *ent = rank->ent;
	u64 until_ns = ent->policy.granted_ns + ptsp_slice(&ent->dev->policy);

	spin_lock(&groups_lock);
	if (ptsp_gang_lead(&rank->policy, until_ns, now) && list_empty(&rank->group->leading)) {
		list_add_tail(&rank->group->leading, &leading_groups);
		queue_work(ptsched_wq, &leading);
	}
	spin_unlock(&groups_lock);
}

/**
 * ptsched_group_granted - a process has the turn: its group may go first now
 * @ent: its entity, locked
 */
void ptsched_group_granted(struct ptsched_entity *ent)
{
	lockdep_assert_held(&ent->dev->lock);
	if (ent->rank && ent->dev->policy.nr_active > 1)
		try_to_lead(ent->rank, ent->policy.granted_ns);
}

/**
 * ptsched_group_again - another group went first when a process here got the turn
 * @dev: its device, locked, with dev->front.refused
 * @now: the time
 *
 * Return: when to look once more; PTSP_NEVER: not for this one.
 */
u64 ptsched_group_again(struct ptsched_dev *dev, u64 now)
{
	struct ptsched_rank *rank = rank_of(dev->front.refused);

	lockdep_assert_held(&dev->lock);
	if (rank->ent->policy.state != PTSP_HOLDING)
		dev->front.refused = NULL;
	else if (dev->front.again_ns <= now)
		try_to_lead(rank, now);
	return dev->front.refused ? dev->front.again_ns : PTSP_NEVER;
}

static void leave(struct ptsched_entity *ent)
{
	struct ptsched_gang *group = ent->rank->group;

	lockdep_assert_held(&groups_lock);
	ptsp_gang_part(&ent->rank->policy);
	kfree(ent->rank);
	ent->rank = NULL;
	if (group->gang.nr_members)
		return;
	list_del(&group->leading);
	rb_erase(&group->node, &groups);
	kfree(group);
}

/**
 * ptsched_group_leave - a process is in no group any more
 * @ent: its entity, locked
 */
void ptsched_group_leave(struct ptsched_entity *ent)
{
	lockdep_assert_held(&ent->dev->lock);
	if (!ent->rank)
		return;
	spin_lock(&groups_lock);
	leave(ent);
	spin_unlock(&groups_lock);
}

/* Both are used up, set to NULL, or left to the caller. */
static int join(struct ptsched_entity *ent, struct ptsched_rank **rank,
		struct ptsched_gang **new)
{
	struct ptsched_gang *group;
	struct rb_node *node;

	lockdep_assert_held(&groups_lock);
	node = rb_find_add(&(*new)->node, &groups, compare_nodes);
	group = node ? rb_entry(node, struct ptsched_gang, node) : *new;
	if (!node)
		*new = NULL;
	if (ent->rank && ent->rank->group == group)
		return 0;
	if (!ptsp_gang_join(&group->gang, &(*rank)->policy, &ent->dev->front))
		return -ENOSPC;
	(*rank)->group = group;
	(*rank)->ent = ent;
	if (ent->rank)
		leave(ent);
	ent->rank = *rank;
	*rank = NULL;
	return 0;
}

/* An unlinked group of the caller's; NULL without memory. */
static struct ptsched_gang *group_new(const char *name)
{
	struct ptsched_gang *group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);

	if (!group)
		return NULL;
	INIT_LIST_HEAD(&group->leading);
	ptsp_gang_init(&group->gang);
	group->uid = current_uid();
	group->pid_ns = task_active_pid_ns(current)->ns.inum;
	strscpy(group->name, name, sizeof(group->name));
	return group;
}

/* Both are used up, and NULL then, or left to the caller. */
static int set_group(struct ptsched_client *client, struct ptsched_rank **rank,
		     struct ptsched_gang **group)
{
	int ret = ptsc_allow_call(&client->contract);

	lockdep_assert_held(&client->dev->lock);
	if (ret)
		return ret;
	spin_lock(&groups_lock);
	if (*group)
		ret = join(client->self, rank, group);
	else if (client->self->rank)
		leave(client->self);
	spin_unlock(&groups_lock);
	return ret;
}

/**
 * ptsched_call_group - PTSCHED_IOC_GROUP
 * @client: an attached client of the calling process
 * @arg: checked arguments
 *
 * Return: 0, -ECANCELED, -ENOSPC or -ENOMEM.
 */
int ptsched_call_group(struct ptsched_client *client, struct ptsched_group *arg)
{
	struct ptsched_rank *rank = NULL;
	struct ptsched_gang *group = NULL;
	int ret = -ENOMEM;

	BUILD_BUG_ON(PTSP_GANG_MAX != PTSCHED_GROUP_MAX);
	if (*arg->name) {
		rank = kzalloc(sizeof(*rank), GFP_KERNEL_ACCOUNT);
		group = group_new(arg->name);
	}
	if (!*arg->name || (rank && group)) {
		ptsched_lock(client->dev);
		ret = set_group(client, &rank, &group);
		ptsched_unlock(client->dev);
	}
	kfree(rank);
	kfree(group);
	return ret;
}

/**
 * ptsched_group_name - the name of a process's group
 * @ent: its entity, locked
 *
 * Return: the name, which is there as long as the device is locked; empty: it has none.
 */
const char *ptsched_group_name(const struct ptsched_entity *ent)
{
	lockdep_assert_held(&ent->dev->lock);
	return ent->rank ? ent->rank->group->name : "";
}
