// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounts: among whom the time of a device is divided beside its processes, and who
 * answers for the debts of those that are gone. A user has one of each kind, a cgroup one
 * (cgroup.c).
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "core.h"

/* Who owes is looked at by and by. */
#define SWEEP_AT_ONCE	4

static struct kmem_cache *user_cache;

/**
 * ptsched_user_new - make an account, to be used by ptsched_account_open()
 *
 * Return: the account, or NULL without memory. The caller says whose it is, and
 * gives to ptsched_user_free() what is not used.
 */
struct ptsched_user *ptsched_user_new(void)
{
	struct ptsched_user *user = kmem_cache_alloc(user_cache, GFP_KERNEL);

	if (user)
		memset(user, 0, sizeof(*user));
	return user;
}

/**
 * ptsched_user_free - free an account that was not used
 * @user: the account, or NULL
 */
void ptsched_user_free(struct ptsched_user *user)
{
	if (user)
		kmem_cache_free(user_cache, user);
}

static bool is_needed(const struct ptsched_dev *dev, const struct ptsched_user *user, u64 now)
{
	return user->share != PTSCHED_SHARE_DEFAULT ||
	       ptsp_user_owes(&dev->policy, &user->policy, now) ||
	       ptsp_user_owes(&dev->policy, &user->grouped, now);
}

/**
 * ptsched_accounts_sweep - free some accounts that nobody needs any more
 * @dev: the device, locked
 * @now: the time
 */
void ptsched_accounts_sweep(struct ptsched_dev *dev, u64 now)
{
	struct ptsched_user *user;
	unsigned int left = SWEEP_AT_ONCE;

	lockdep_assert_held(&dev->lock);
	while (left-- && !list_empty(&dev->indebted)) {
		user = list_first_entry(&dev->indebted, struct ptsched_user, indebted);
		if (is_needed(dev, user, now)) {
			list_move_tail(&user->indebted, &dev->indebted);
			continue;
		}
		list_del(&user->indebted);
		rb_erase(&user->node, &dev->users);
		kmem_cache_free(user_cache, user);
	}
	ptsched_cgroups_sweep(dev, now);
}

/**
 * ptsched_accounts_free - forget all debts of a device that nobody uses any more
 * @dev: the device
 */
void ptsched_accounts_free(struct ptsched_dev *dev)
{
	struct ptsched_user *user, *next;

	rbtree_postorder_for_each_entry_safe(user, next, &dev->users, node)
		kmem_cache_free(user_cache, user);
	ptsched_cgroups_free(dev);
}

static u64 uid_of(const struct rb_node *node)
{
	return __kuid_val(rb_entry(node, struct ptsched_user, node)->uid);
}

static bool uid_less(struct rb_node *a, const struct rb_node *b)
{
	return uid_of(a) < uid_of(b);
}

/**
 * ptsched_user_from - the first account of a user that has a number or a later one
 * @dev: the device, locked
 * @uid: the number
 */
struct ptsched_user *ptsched_user_from(struct ptsched_dev *dev, kuid_t uid)
{
	lockdep_assert_held(&dev->lock);
	return rb_entry_safe(ptsched_first_from(&dev->users, __kuid_val(uid), uid_of),
			     struct ptsched_user, node);
}

/* The account of a user; @spare, which says whose it is and is used up, if it has none yet. */
static struct ptsched_user *user_of(struct ptsched_dev *dev, struct ptsched_user **spare, u64 now)
{
	struct ptsched_user *user = ptsched_user_from(dev, (*spare)->uid);

	if (user && uid_eq(user->uid, (*spare)->uid))
		return user;
	user = *spare;
	*spare = NULL;
	user->share = PTSCHED_SHARE_DEFAULT;
	ptsp_group_init(&dev->policy, &user->group, NULL, ptsp_share_to_weight(user->share), now);
	user->grouped.group = &user->group;
	rb_add(&user->node, &dev->users, uid_less);
	list_add_tail(&user->indebted, &dev->indebted);
	return user;
}

/**
 * ptsched_user_set_share - what a user gets against others
 * @dev: the device, not locked
 * @uid: the user, who need not have processes there
 * @share: from 1 to PTSCHED_SHARE_MAX
 *
 * Return: 0 or -ENOMEM.
 */
int ptsched_user_set_share(struct ptsched_dev *dev, kuid_t uid, u32 share)
{
	struct ptsched_user *user, *spare = ptsched_user_new();
	u64 now;

	if (!spare)
		return -ENOMEM;
	spare->uid = uid;
	now = ptsched_lock(dev);
	user = user_of(dev, &spare, now);
	user->share = share;
	ptsp_group_set_weight(&dev->policy, &user->group, ptsp_share_to_weight(share), now);
	dev->changed = true;
	ptsched_unlock(dev);
	ptsched_user_free(spare);
	return 0;
}

/**
 * ptsched_account_open - an entity has an account from here on
 * @ent: the entity, locked; its spare one says whose, and may be used up
 * @now: the time
 *
 * Return: the policy's part, for ptsp_join().
 */
struct ptsp_user *ptsched_account_open(struct ptsched_entity *ent, u64 now)
{
	ent->user = user_of(ent->dev, &ent->spare, now);
	if (!ent->user->nr_entities++)
		list_del(&ent->user->indebted);
	return ptsched_account_of(ent, now);
}

/**
 * ptsched_account_close - the entity has left the policy
 * @ent: the entity, locked
 */
void ptsched_account_close(struct ptsched_entity *ent)
{
	if (!--ent->user->nr_entities)
		list_add_tail(&ent->user->indebted, &ent->dev->indebted);
	ptsched_cgroup_leave(ent, ent->cgroup);
}

/**
 * ptsched_account_of - among whom the entity's time is divided, by the device's settings
 * @ent: the entity, locked
 * @now: the time
 *
 * Return: the policy's part. If that is another cgroup's than before, @ent is in both.
 */
struct ptsp_user *ptsched_account_of(struct ptsched_entity *ent, u64 now)
{
	switch (ent->dev->policy.params.grouping) {
	case PTSP_BY_CGROUP:
		return ptsched_cgroup_account(ent, now);
	case PTSP_BY_USER:
		return &ent->user->grouped;
	default:
		return &ent->user->policy;
	}
}

/**
 * ptsched_account_follow - since the entity asked last, it may have to be elsewhere
 * @ent: the entity, idle, locked
 * @now: the time
 */
void ptsched_account_follow(struct ptsched_entity *ent, u64 now)
{
	struct ptsched_cgroup *before = ent->cgroup;
	struct ptsp_user *account = ptsched_account_of(ent, now);

	if (account == ent->policy.user)
		return;
	ptsp_move(&ent->dev->policy, &ent->policy, account, now);
	if (before == ent->cgroup)
		ent->cgroup = NULL;
	ptsched_cgroup_leave(ent, before);
}

/** ptsched_accounts_init - 0 or -ENOMEM */
int ptsched_accounts_init(void)
{
	int ret;

	user_cache = ptsched_cache_create("ptsched_user", sizeof(struct ptsched_user));
	if (!user_cache)
		return -ENOMEM;
	ret = ptsched_cgroups_init();
	if (ret)
		kmem_cache_destroy(user_cache);
	return ret;
}

/** ptsched_accounts_exit - undo ptsched_accounts_init(); all devices are gone */
void ptsched_accounts_exit(void)
{
	ptsched_cgroups_exit();
	kmem_cache_destroy(user_cache);
}
