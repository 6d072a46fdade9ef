// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroups (v2) as groups of the policy: each that has processes on a device is one, in
 * those of the cgroups above it. What a cgroup's processes owe when they are gone, the
 * cgroup owes. Processes of the root are in no group.
 *
 * A cgroup that is gone is kept for as long as there is something to be said of it, and
 * no share that was set.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/slab.h>

#include "compat.h"
#include "core.h"

#ifdef CONFIG_CGROUPS

/* More than one process brings to a device. */
#define SWEEP_AT_ONCE	(2 * PTSCHED_CGROUP_DEPTH)

static_assert(PTSCHED_CGROUP_DEPTH == PTSP_DEPTH);

static struct kmem_cache *cgroup_cache;

static u64 id_of(const struct rb_node *node)
{
	return rb_entry(node, struct ptsched_cgroup, node)->id;
}

static bool id_less(struct rb_node *a, const struct rb_node *b)
{
	return id_of(a) < id_of(b);
}

/**
 * ptsched_cgroup_from - the first cgroup that has a number or a later one
 * @dev: the device, locked
 * @id: the number
 */
struct ptsched_cgroup *ptsched_cgroup_from(struct ptsched_dev *dev, u64 id)
{
	lockdep_assert_held(&dev->lock);
	return rb_entry_safe(ptsched_first_from(&dev->cgroups, id, id_of), struct ptsched_cgroup,
			     node);
}

static struct ptsched_cgroup *find(struct ptsched_dev *dev, const struct cgroup *cgrp)
{
	struct ptsched_cgroup *group = ptsched_cgroup_from(dev, cgroup_id(cgrp));

	return group && group->cgrp == cgrp ? group : NULL;
}

static void hold(struct ptsched_cgroup *group)
{
	if (!group->nr_inside++)
		list_del_init(&group->unused);
}

static void let_go(struct ptsched_dev *dev, struct ptsched_cgroup *group)
{
	if (!--group->nr_inside)
		list_add_tail(&group->unused, &dev->unused_cgroups);
}

static struct ptsched_cgroup *add(struct ptsched_dev *dev, struct cgroup *cgrp,
				  struct ptsched_cgroup *parent, u64 now)
{
	struct ptsched_cgroup *group;

	/* Who asks for a turn asks again, and an administrator is told. */
	group = kmem_cache_alloc(cgroup_cache, GFP_NOWAIT | __GFP_NOWARN);
	if (!group)
		return NULL;
	if (!css_tryget(&cgrp->self)) {
		kmem_cache_free(cgroup_cache, group);
		return NULL;
	}
	*group = (struct ptsched_cgroup){
		.cgrp = cgrp,
		.id = cgroup_id(cgrp),
		.parent = parent,
		.share = PTSCHED_SHARE_DEFAULT,
	};
	ptsp_group_init(&dev->policy, &group->group, parent ? &parent->group : NULL,
			ptsp_share_to_weight(group->share), now);
	group->account.group = &group->group;
	rb_add(&group->node, &dev->cgroups, id_less);
	list_add_tail(&group->unused, &dev->unused_cgroups);
	if (parent)
		hold(parent);
	return group;
}

/* What is known of a cgroup, which is not the root; NULL without memory. */
static struct ptsched_cgroup *group_of(struct ptsched_dev *dev, struct cgroup *cgrp, u64 now)
{
	struct ptsched_cgroup *group = find(dev, cgrp), *parent = NULL;
	struct cgroup *above;
	int level;

	lockdep_assert_held(&dev->lock);
	for (level = 1; !group && level <= cgrp->level; level++) {
		above = cgroup_ancestor(cgrp, level);
		group = find(dev, above) ?: add(dev, above, parent, now);
		if (!group || above == cgrp)
			break;
		parent = group;
		group = NULL;
	}
	return group;
}

static void enter(struct ptsched_entity *ent, struct ptsched_cgroup *group)
{
	ent->cgroup = group;
	hold(group);
	for (; group; group = group->parent)
		group->nr_entities++;
}

/**
 * ptsched_cgroup_leave - an entity is in a cgroup no more
 * @ent: the entity, locked
 * @group: the cgroup, or NULL
 */
void ptsched_cgroup_leave(struct ptsched_entity *ent, struct ptsched_cgroup *group)
{
	struct ptsched_cgroup *above;

	lockdep_assert_held(&ent->dev->lock);
	if (!group)
		return;
	for (above = group; above; above = above->parent)
		above->nr_entities--;
	let_go(ent->dev, group);
}

/* The cgroup that counts for a process; that of one that has no task any more is not known. */
static struct cgroup *cgroup_of(struct pid *pid)
{
	struct task_struct *task = pid_task(pid, PIDTYPE_TGID);
	struct cgroup *cgrp;

	if (!task)
		return NULL;
	cgrp = task_dfl_cgroup(task);
	return cgrp->level > PTSCHED_CGROUP_DEPTH ? cgroup_ancestor(cgrp, PTSCHED_CGROUP_DEPTH) :
						    cgrp;
}

/**
 * ptsched_cgroup_account - the account of the cgroup that the process is in now
 * @ent: the entity, locked
 * @now: the time
 *
 * If the process has been moved, the entity is put into its new cgroup, and the caller
 * takes it out of the old one once the policy knows.
 *
 * Return: the account; its user's in the root, and without memory for the cgroup.
 */
struct ptsp_user *ptsched_cgroup_account(struct ptsched_entity *ent, u64 now)
{
	struct ptsched_cgroup *group = ent->cgroup;
	struct cgroup *cgrp;

	rcu_read_lock();
	cgrp = cgroup_of(ent->pid);
	if (cgrp && !(group && group->cgrp == cgrp)) {
		group = cgrp->level ? group_of(ent->dev, cgrp, now) : NULL;
		ent->cgroup = NULL;
		if (group)
			enter(ent, group);
	}
	rcu_read_unlock();
	return group ? &group->account : &ent->user->policy;
}

/**
 * ptsched_cgroup_charge - GPU time of an entity is that of its cgroups, too
 * @ent: the entity, locked
 * @gpu_ns: so much
 */
void ptsched_cgroup_charge(struct ptsched_entity *ent, u64 gpu_ns)
{
	struct ptsched_cgroup *group;

	lockdep_assert_held(&ent->dev->lock);
	for (group = ent->cgroup; group; group = group->parent)
		group->gpu_ns += gpu_ns;
}

/**
 * ptsched_cgroup_set_share - what a cgroup gets against others
 * @dev: the device, not locked
 * @cgrp: the cgroup, not the root
 * @share: from 1 to PTSCHED_SHARE_MAX
 *
 * Return: 0, -ENOMEM, or -EINVAL: it is deeper than PTSCHED_CGROUP_DEPTH.
 */
int ptsched_cgroup_set_share(struct ptsched_dev *dev, struct cgroup *cgrp, u32 share)
{
	struct ptsched_cgroup *group;
	u64 now;

	if (cgrp->level > PTSCHED_CGROUP_DEPTH)
		return -EINVAL;
	now = ptsched_lock(dev);
	group = group_of(dev, cgrp, now);
	if (group) {
		group->share = share;
		ptsp_group_set_weight(&dev->policy, &group->group, ptsp_share_to_weight(share),
				      now);
		dev->changed = true;
	}
	ptsched_unlock(dev);
	return group ? 0 : -ENOMEM;
}

/* Who made a cgroup may write the directory that it is in, as one may whose its cpu.weight is. */
static int may_set(struct file *file)
{
	struct dentry *above = dget_parent(file->f_path.dentry);
	int ret = inode_permission(ptsched_file_idmap(file), d_inode(above), MAY_WRITE);

	dput(above);
	return ret;
}

static int check(struct file *file, const struct cgroup *cgrp, const struct cred *opener)
{
	const struct inode *inode = file_inode(file);
	const struct cred *own;
	int ret;

	/* The descriptor may be another file's than it was a moment ago. */
	if (inode->i_sb->s_magic != CGROUP2_SUPER_MAGIC || inode->i_ino != cgroup_id(cgrp))
		return -ENOTDIR;
	if (!cgrp->level)
		return -EINVAL;
	ret = opener ? may_set(file) : 0;
	if (!opener || ret)
		return ret;
	/* A privileged program may be made to write to a socket that another has opened. */
	own = override_creds(opener);
	ret = may_set(file);
	revert_creds(own);
	return ret;
}

/**
 * ptsched_cgroup_by_fd - the cgroup whose share may be set
 * @fd: the caller's descriptor of its directory
 * @opener: who must be allowed to, beside the caller; NULL: nobody need be
 *
 * Return: the cgroup, for ptsched_cgroup_put(); ERR_PTR(-EBADF): it is none;
 * ERR_PTR(-ENOTDIR): it is not a cgroup's; ERR_PTR(-EINVAL): it is the root's;
 * ERR_PTR(-EACCES).
 */
struct cgroup *ptsched_cgroup_by_fd(int fd, const struct cred *opener)
{
	struct file *file = fget(fd);
	struct cgroup *cgrp;
	int ret;

	if (!file)
		return ERR_PTR(-EBADF);
	cgrp = cgroup_get_from_fd(fd);
	ret = IS_ERR(cgrp) ? -ENOTDIR : check(file, cgrp, opener);
	fput(file);
	if (!ret)
		return cgrp;
	if (!IS_ERR(cgrp))
		cgroup_put(cgrp);
	return ERR_PTR(ret);
}

/**
 * ptsched_cgroup_put - drop the reference of ptsched_cgroup_by_fd()
 * @cgrp: the cgroup
 */
void ptsched_cgroup_put(struct cgroup *cgrp)
{
	cgroup_put(cgrp);
}

static void release(struct ptsched_cgroup *group)
{
	cgroup_put(group->cgrp);
	kmem_cache_free(cgroup_cache, group);
}

static bool is_needed(const struct ptsched_dev *dev, const struct ptsched_cgroup *group, u64 now)
{
	/* Who removes it has no lock of ours. */
	bool online = READ_ONCE(group->cgrp->self.flags) & CSS_ONLINE;

	return (online && group->share != PTSCHED_SHARE_DEFAULT) ||
	       ptsp_user_owes(&dev->policy, &group->account, now);
}

/**
 * ptsched_cgroups_sweep - forget some cgroups of which there is nothing to be said
 * @dev: the device, locked
 * @now: the time
 */
void ptsched_cgroups_sweep(struct ptsched_dev *dev, u64 now)
{
	struct ptsched_cgroup *group;
	unsigned int left = SWEEP_AT_ONCE;

	lockdep_assert_held(&dev->lock);
	while (left-- && !list_empty(&dev->unused_cgroups)) {
		group = list_first_entry(&dev->unused_cgroups, struct ptsched_cgroup, unused);
		if (is_needed(dev, group, now)) {
			list_move_tail(&group->unused, &dev->unused_cgroups);
			continue;
		}
		list_del(&group->unused);
		rb_erase(&group->node, &dev->cgroups);
		if (group->parent)
			let_go(dev, group->parent);
		release(group);
	}
}

/**
 * ptsched_cgroups_free - forget all cgroups of a device that nobody uses any more
 * @dev: the device
 */
void ptsched_cgroups_free(struct ptsched_dev *dev)
{
	struct ptsched_cgroup *group, *next;

	rbtree_postorder_for_each_entry_safe(group, next, &dev->cgroups, node)
		release(group);
}

/** ptsched_cgroups_init - 0 or -ENOMEM */
int ptsched_cgroups_init(void)
{
	cgroup_cache = ptsched_cache_create("ptsched_cgroup", sizeof(struct ptsched_cgroup));
	return cgroup_cache ? 0 : -ENOMEM;
}

/** ptsched_cgroups_exit - undo ptsched_cgroups_init() */
void ptsched_cgroups_exit(void)
{
	kmem_cache_destroy(cgroup_cache);
}

#endif /* CONFIG_CGROUPS */
