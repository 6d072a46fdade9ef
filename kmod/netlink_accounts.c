// SPDX-License-Identifier: GPL-2.0-only
/* Generic netlink: what users and cgroups have on a device, and what they get. */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>
#include <net/netlink.h>

#include "compat.h"
#include "core.h"
#include "netlink.h"

const struct nla_policy ptsched_set_user_policy[PTSCHED_A_SHARE + 1] = {
	[PTSCHED_A_DEVICE_ID] = { .type = NLA_U32 },
	[PTSCHED_A_UID] = { .type = NLA_U32 },
	[PTSCHED_A_SHARE] = { .type = NLA_U32 },
};

const struct nla_policy ptsched_set_cgroup_policy[PTSCHED_A_CGROUP_FD + 1] = {
	[PTSCHED_A_DEVICE_ID] = { .type = NLA_U32 },
	[PTSCHED_A_SHARE] = { .type = NLA_U32 },
	[PTSCHED_A_CGROUP_FD] = { .type = NLA_U32 },
};

/* Whose share is set. */
struct whose {
	kuid_t uid;
	struct cgroup *cgrp;	/* NULL: the user's */
};

/* The share that is asked for, or a negative errno. */
static int share_of(struct genl_info *info)
{
	u32 share;

	if (GENL_REQ_ATTR_CHECK(info, PTSCHED_A_SHARE))
		return -EINVAL;
	share = nla_get_u32(info->attrs[PTSCHED_A_SHARE]);
	if (!share || share > PTSCHED_SHARE_MAX)
		return OUT_OF_RANGE(info, PTSCHED_A_SHARE, "share: 1 to 10000");
	return share;
}

static int set_share(struct genl_info *info, const struct whose *whose, u32 share)
{
	struct ptsched_dev *dev;
	bool found = false;
	int ret = 0;

	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		if (!ptsched_is_wanted(dev, info))
			continue;
		found = true;
		ret = whose->cgrp ? ptsched_cgroup_set_share(dev, whose->cgrp, share) :
				    ptsched_user_set_share(dev, whose->uid, share);
		if (ret)
			break;
	}
	mutex_unlock(&ptsched_devices_lock);
	return found || !info->attrs[PTSCHED_A_DEVICE_ID] ? ret : ptsched_no_device(info);
}

/**
 * ptsched_set_user - PTSCHED_CMD_SET_USER
 * @skb: the request
 * @info: the same
 */
int ptsched_set_user(struct sk_buff *skb, struct genl_info *info)
{
	struct whose whose = { .cgrp = NULL };
	int share;

	if (!ptsched_is_admin(skb, info))
		return -EPERM;
	if (GENL_REQ_ATTR_CHECK(info, PTSCHED_A_UID))
		return -EINVAL;
	share = share_of(info);
	if (share < 0)
		return share;
	/* CAP_SYS_ADMIN is that of the first user namespace. */
	whose.uid = make_kuid(&init_user_ns, nla_get_u32(info->attrs[PTSCHED_A_UID]));
	if (!uid_valid(whose.uid))
		return OUT_OF_RANGE(info, PTSCHED_A_UID, "user: 0 to 4294967294");
	return set_share(info, &whose, share);
}

static int refuse_cgroup(struct genl_info *info, int error)
{
	const struct nlattr *fd = info->attrs[PTSCHED_A_CGROUP_FD];

	switch (error) {
	case -EBADF:
		NL_SET_ERR_MSG_ATTR(info->extack, fd, "the cgroup's descriptor is missing");
		break;
	case -ENOTDIR:
		NL_SET_ERR_MSG_ATTR(info->extack, fd, "not a directory of cgroup2");
		return -EINVAL;
	case -EINVAL:
		NL_SET_ERR_MSG_ATTR(info->extack, fd, "the root has no share");
		break;
	case -EACCES:
		NL_SET_ERR_MSG_ATTR(info->extack, fd,
				    "the directory above may not be written");
		return -EPERM;
	}
	return error;
}

/**
 * ptsched_set_cgroup - PTSCHED_CMD_SET_CGROUP
 * @skb: the request, whose sender is the current process
 * @info: the same
 */
int ptsched_set_cgroup(struct sk_buff *skb, struct genl_info *info)
{
	struct ptsched_viewer sender;
	struct whose whose;
	int share, ret;

	if (GENL_REQ_ATTR_CHECK(info, PTSCHED_A_CGROUP_FD))
		return -EINVAL;
	share = share_of(info);
	if (share < 0)
		return share;
	ptsched_viewer_init(&sender, skb);
	whose.cgrp = ptsched_cgroup_by_fd(nla_get_u32(info->attrs[PTSCHED_A_CGROUP_FD]),
					  netlink_capable(skb, CAP_SYS_ADMIN) ? NULL :
					  sender.cred);
	ptsched_viewer_exit(&sender);
	if (IS_ERR(whose.cgrp))
		return refuse_cgroup(info, PTR_ERR(whose.cgrp));
	ret = set_share(info, &whose, share);
	ptsched_cgroup_put(whose.cgrp);
	if (ret == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[PTSCHED_A_CGROUP_FD],
				    "it is more than 8 levels below the root");
	return ret;
}

/* What a reader is told of an account, as it was when its device was locked. */
struct account {
	u64 key;		/* in the order of the tree */
	kuid_t uid;		/* INVALID_UID: a cgroup's */
	u64 parent;		/* of a cgroup; 0: the root */
	u32 share;
	u32 nr_entities;
	u64 gpu_ns;
};

/* The first user from number @key on that the reader may see. */
static bool next_user(struct ptsched_dev *dev, u64 key, const struct ptsched_viewer *viewer,
		      struct account *found)
{
	bool all = ptsched_viewer_sees_account(viewer, INVALID_UID), finds;
	kuid_t own = viewer->cred->fsuid;
	struct ptsched_user *user;

	/* One that sees its own only is looked for at once. */
	if (key > (all ? U32_MAX : __kuid_val(own)))
		return false;
	ptsched_lock(dev);
	user = ptsched_user_from(dev, all ? KUIDT_INIT(key) : own);
	finds = user && (all || uid_eq(user->uid, own));
	if (finds)
		*found = (struct account){
			.key = __kuid_val(user->uid),
			.uid = user->uid,
			.share = user->share,
			.nr_entities = user->nr_entities,
			.gpu_ns = user->gpu_ns,
		};
	ptsched_unlock(dev);
	return finds;
}

static bool next_cgroup(struct ptsched_dev *dev, u64 key, const struct ptsched_viewer *viewer,
			struct account *found)
{
	struct ptsched_cgroup *group;

	if (!ptsched_viewer_sees_account(viewer, INVALID_UID))
		return false;
	ptsched_lock(dev);
	group = ptsched_cgroup_from(dev, key);
	if (group)
		*found = (struct account){
			.key = group->id,
			.uid = INVALID_UID,
			.parent = group->parent ? group->parent->id : 0,
			.share = group->share,
			.nr_entities = group->nr_entities,
			.gpu_ns = group->gpu_ns,
		};
	ptsched_unlock(dev);
	return group;
}

static int put_account(struct sk_buff *skb, const struct ptsched_dev *dev,
		       const struct ptsched_viewer *viewer, const struct account *account)
{
	if (uid_valid(account->uid) ?
	    nla_put_u32(skb, PTSCHED_A_UID, ptsched_viewer_uid(viewer, account->uid)) :
	    ptsched_put_u64(skb, PTSCHED_A_CGROUP, account->key))
		return -EMSGSIZE;
	if (account->parent && ptsched_put_u64(skb, PTSCHED_A_PARENT_CGROUP, account->parent))
		return -EMSGSIZE;
	return nla_put_u32(skb, PTSCHED_A_DEVICE_ID, dev->id) ||
	       nla_put_u32(skb, PTSCHED_A_SHARE, account->share) ||
	       nla_put_u32(skb, PTSCHED_A_ENTITIES, account->nr_entities) ||
	       ptsched_put_u64(skb, PTSCHED_A_GPU_NS, account->gpu_ns) ? -EMSGSIZE : 0;
}

/* The accounts of one device: users, and, once args[1] is set, cgroups; from args[3] on. */
static int dump_dev_accounts(struct sk_buff *skb, struct netlink_callback *cb,
			     struct ptsched_dev *dev)
{
	struct ptsched_viewer *viewer = ptsched_dump_viewer(cb);
	struct account account;
	void *header;

	ptsched_accounts_sweep(dev, ptsched_lock(dev));
	ptsched_unlock(dev);
	for (;;) {
		if (!(cb->args[1] ? next_cgroup : next_user)(dev, cb->args[3], viewer, &account)) {
			if (cb->args[1])
				return 0;
			cb->args[1] = true;
			cb->args[3] = 0;
			continue;
		}
		header = ptsched_put_header(skb, cb, PTSCHED_CMD_GET_ACCOUNT);
		if (!header)
			return -EMSGSIZE;
		if (put_account(skb, dev, viewer, &account)) {
			genlmsg_cancel(skb, header);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, header);
		cb->args[3] = account.key + 1;
	}
}

/**
 * ptsched_dump_accounts - PTSCHED_CMD_GET_ACCOUNT
 * @skb: the answer
 * @cb: the dump
 */
int ptsched_dump_accounts(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ptsched_dump_each(skb, cb, dump_dev_accounts);
}
