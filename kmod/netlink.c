// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: what tools see and set. Devices are shown to everybody, processes
 * to who may see them (viewer.c); settings need CAP_SYS_ADMIN.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/netlink.h>

#include "compat.h"
#include "core.h"
#include "netlink.h"

/* None may be given; but a maxattr of 0 would stand for that of the family. */
static const struct nla_policy no_attributes[PTSCHED_A_PAD + 1] = {
	[PTSCHED_A_PAD] = { .type = NLA_REJECT },
};

static const struct nla_policy of_a_device[PTSCHED_A_DEVICE_ID + 1] = {
	[PTSCHED_A_DEVICE_ID] = { .type = NLA_U32 },
};

static const struct nla_policy set_device_policy[PTSCHED_A_GROUPING + 1] = {
	[PTSCHED_A_DEVICE_ID] = { .type = NLA_U32 },
	[PTSCHED_A_POLICY] = { .type = NLA_U32 },
	[PTSCHED_A_IDLE_SHARING] = { .type = NLA_U8 },
	[PTSCHED_A_MANY] = { .type = NLA_U8 },
	[PTSCHED_A_SLICE_NS] = { .type = NLA_U64 },
	[PTSCHED_A_GRACE_NS] = { .type = NLA_U64 },
	[PTSCHED_A_DRAIN_NS] = { .type = NLA_U64 },
	[PTSCHED_A_INFLIGHT_NS] = { .type = NLA_U64 },
	[PTSCHED_A_ALPHA] = { .type = NLA_U32 },
	[PTSCHED_A_NODE] = { .type = NLA_U64 },
	[PTSCHED_A_GROUPING] = { .type = NLA_U32 },
};

static const struct nla_policy set_entity_policy[PTSCHED_A_WEIGHT + 1] = {
	[PTSCHED_A_DEVICE_ID] = { .type = NLA_U32 },
	[PTSCHED_A_PID] = { .type = NLA_U32 },
	[PTSCHED_A_WEIGHT] = { .type = NLA_U32 },
};

static int put_stats(struct sk_buff *skb, const struct ptsp_stats *stats)
{
	return ptsched_put_u64(skb, PTSCHED_A_TURNS, stats->turns) ||
	       ptsched_put_u64(skb, PTSCHED_A_CALLBACKS, stats->callbacks) ||
	       ptsched_put_u64(skb, PTSCHED_A_PREEMPTS, stats->preempts) ||
	       ptsched_put_u64(skb, PTSCHED_A_ESCALATIONS, stats->escalations) ||
	       ptsched_put_u64(skb, PTSCHED_A_FORCED, stats->forced) ||
	       ptsched_put_u64(skb, PTSCHED_A_OVERRUN_NS, stats->overrun_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_OCCUPANCY_NS, stats->occupancy_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_HELD_NS, stats->held_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_GPU_NS, stats->gpu_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_GIVEN_NS, stats->given_ns);
}

static int put_params(struct sk_buff *skb, const struct ptsp_params *params)
{
	return nla_put_u32(skb, PTSCHED_A_POLICY, params->kind) ||
	       nla_put_u32(skb, PTSCHED_A_GROUPING, params->grouping) ||
	       nla_put_u8(skb, PTSCHED_A_IDLE_SHARING, params->idle_sharing) ||
	       nla_put_u8(skb, PTSCHED_A_MANY, params->many) ||
	       ptsched_put_u64(skb, PTSCHED_A_SLICE_NS, params->slice_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_GRACE_NS, params->grace_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_DRAIN_NS, params->drain_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_INFLIGHT_NS, params->inflight_ns) ||
	       nla_put_u32(skb, PTSCHED_A_ALPHA, params->alpha);
}

static int put_dev(struct sk_buff *skb, struct ptsched_dev *dev)
{
	const struct ptsp_device *policy = &dev->policy;

	lockdep_assert_held(&dev->lock);
	return nla_put_u32(skb, PTSCHED_A_DEVICE_ID, dev->id) ||
	       nla_put_string(skb, PTSCHED_A_DEVICE, dev->name) ||
	       (*dev->uuid && nla_put_string(skb, PTSCHED_A_UUID, dev->uuid)) ||
	       put_params(skb, &policy->params) ||
	       ptsched_put_u64(skb, PTSCHED_A_NODE, dev->node) ||
	       ptsched_put_u64(skb, PTSCHED_A_SLICE_EFFECTIVE_NS, ptsp_slice(policy)) ||
	       ptsched_put_u64(skb, PTSCHED_A_HANDOVER_NS, policy->handover_ns) ||
	       nla_put_u32(skb, PTSCHED_A_ENTITIES, policy->nr_entities) ||
	       nla_put_u32(skb, PTSCHED_A_WAITERS, policy->nr_waiters) ||
	       put_stats(skb, &policy->stats);
}

/* What a reader is told of an entity, as it was when its device was locked. */
struct snapshot {
	u64 id;
	u32 pid;
	u32 uid;
	char comm[TASK_COMM_LEN];
	s32 nice;
	u32 weight;
	bool weight_set;
	bool active;
	u32 state;
	s64 budget_ns;
	u32 clients;
	u32 mechanism;
	struct ptsp_stats stats;
	bool sees_user;
	u64 user_gpu_ns;
	u32 share;
	u64 cgroup;
	char group[PTSCHED_NAME_LEN];
};

static void take_snapshot(struct snapshot *snapshot, struct ptsched_entity *ent,
			  const struct ptsched_viewer *viewer, u32 pid, u64 now)
{
	const struct ptsp_entity *policy = &ent->policy;

	lockdep_assert_held(&ent->dev->lock);
	*snapshot = (struct snapshot){
		.id = ent->id,
		.pid = pid,
		.uid = ptsched_viewer_uid(viewer, ent->user->uid),
		.nice = ptsched_entity_nice(ent),
		.weight = ptsched_entity_weight(ent),
		.weight_set = ent->weight_set,
		.active = policy->active,
		.state = policy->state,
		.budget_ns = ptsp_budget(&ent->dev->policy, policy, now),
		.clients = ent->contract.nr_owned,
		.mechanism = ent->contract.mechanism,
		.stats = ptsp_stats_of(&ent->dev->policy, policy),
		.sees_user = ptsched_viewer_sees_user(viewer, ent->user->uid),
		.user_gpu_ns = ent->user->gpu_ns,
		.share = ent->user->share,
		.cgroup = ent->cgroup ? ent->cgroup->id : 0,
	};
	memcpy(snapshot->comm, ptsched_entity_comm(ent), sizeof(snapshot->comm));
	strscpy(snapshot->group, ptsched_group_name(ent), sizeof(snapshot->group));
}

static int put_entity(struct sk_buff *skb, const struct ptsched_dev *dev,
		      const struct snapshot *entity)
{
	return nla_put_u32(skb, PTSCHED_A_DEVICE_ID, dev->id) ||
	       nla_put_u32(skb, PTSCHED_A_PID, entity->pid) ||
	       nla_put_u32(skb, PTSCHED_A_UID, entity->uid) ||
	       nla_put_string(skb, PTSCHED_A_COMM, entity->comm) ||
	       nla_put_s32(skb, PTSCHED_A_NICE, entity->nice) ||
	       nla_put_u32(skb, PTSCHED_A_WEIGHT, entity->weight) ||
	       nla_put_u8(skb, PTSCHED_A_WEIGHT_SET, entity->weight_set) ||
	       nla_put_u32(skb, PTSCHED_A_STATE, entity->state) ||
	       nla_put_u8(skb, PTSCHED_A_ACTIVE, entity->active) ||
	       nla_put_s64(skb, PTSCHED_A_BUDGET_NS, entity->budget_ns, PTSCHED_A_PAD) ||
	       ptsched_put_u64(skb, PTSCHED_A_WAIT_NS, entity->stats.wait_ns) ||
	       ptsched_put_u64(skb, PTSCHED_A_SUBMISSIONS, entity->stats.submissions) ||
	       nla_put_u32(skb, PTSCHED_A_CLIENTS, entity->clients) ||
	       nla_put_u32(skb, PTSCHED_A_MECHANISM, entity->mechanism) ||
	       (entity->sees_user &&
		ptsched_put_u64(skb, PTSCHED_A_USER_GPU_NS, entity->user_gpu_ns)) ||
	       nla_put_u32(skb, PTSCHED_A_SHARE, entity->share) ||
	       (entity->cgroup && entity->sees_user &&
		ptsched_put_u64(skb, PTSCHED_A_CGROUP, entity->cgroup)) ||
	       (*entity->group && nla_put_string(skb, PTSCHED_A_GROUP, entity->group)) ||
	       put_stats(skb, &entity->stats);
}

/* One device as one message. */
static int dump_dev(struct sk_buff *skb, struct netlink_callback *cb, struct ptsched_dev *dev)
{
	void *header = ptsched_put_header(skb, cb, PTSCHED_CMD_GET_DEVICE);
	u64 now;
	int ret;

	if (!header)
		return -EMSGSIZE;
	now = ptsched_lock(dev);
	ptsched_accounts_sweep(dev, now);
	/* The counters are summed up to the latest change only. */
	ptsched_run(dev, now);
	ret = put_dev(skb, dev);
	ptsched_unlock(dev);
	if (ret) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* Numbers of devices grow along the list; args[0] is the next to be told of. */
static int dump_devices(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ptsched_dev *dev;

	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		if (dev->id < cb->args[0])
			continue;
		if (dump_dev(skb, cb, dev))
			break;
		cb->args[0] = dev->id + 1;
	}
	mutex_unlock(&ptsched_devices_lock);
	return skb->len;
}

/* So many that the reader may not see are passed over before the device is unlocked. */
#define SKIP_AT_ONCE	64

/* The first entity from number @id on that the reader may see. Whether there is one. */
static bool find_visible(struct ptsched_dev *dev, u64 id, const struct ptsched_viewer *viewer,
			 struct snapshot *found)
{
	struct ptsched_entity *ent;
	unsigned int left;
	u32 pid = 0;
	u64 now;

	do {
		now = ptsched_lock(dev);
		for (left = SKIP_AT_ONCE; left && !pid; left--) {
			ent = ptsched_entity_from(dev, id);
			if (!ent)
				break;
			pid = ptsched_viewer_pid(viewer, ent->pid, ptsched_entity_owner(ent));
			id = ent->id + 1;
		}
		if (pid)
			take_snapshot(found, ent, viewer, pid, now);
		ptsched_unlock(dev);
	} while (ent && !pid);
	return pid;
}

/*
 * The entities of one device from number args[1] on: numbers grow in the order
 * of joining, so that a dump in parts misses none and repeats none.
 */
static int dump_dev_entities(struct sk_buff *skb, struct netlink_callback *cb,
			     struct ptsched_dev *dev)
{
	struct snapshot entity;
	void *header;
	u64 now;

	now = ptsched_lock(dev);
	ptsched_accounts_sweep(dev, now);
	/* The counters are summed up to the latest change only. */
	ptsched_run(dev, now);
	ptsched_unlock(dev);
	while (find_visible(dev, cb->args[1], ptsched_dump_viewer(cb), &entity)) {
		header = ptsched_put_header(skb, cb, PTSCHED_CMD_GET_ENTITY);
		if (!header)
			return -EMSGSIZE;
		if (put_entity(skb, dev, &entity)) {
			genlmsg_cancel(skb, header);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, header);
		cb->args[1] = entity.id + 1;
	}
	return 0;
}

/**
 * ptsched_start_dump - somebody begins to read of processes or accounts
 * @cb: the dump
 *
 * Before the dump, so that a refusal is one: a dump that has begun can only end.
 *
 * Return: 0, -ENODEV or -ENOMEM.
 */
int ptsched_start_dump(struct netlink_callback *cb)
{
	struct nlattr *only = ptsched_dump_attrs(cb)[PTSCHED_A_DEVICE_ID];
	struct ptsched_viewer *viewer;
	struct ptsched_dev *dev;
	bool found = !only;

	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link)
		found = found || dev->id == nla_get_u32(only);
	mutex_unlock(&ptsched_devices_lock);
	if (!found) {
		NL_SET_ERR_MSG_ATTR(cb->extack, only, "no such device");
		return -ENODEV;
	}
	viewer = kmalloc(sizeof(*viewer), GFP_KERNEL_ACCOUNT);
	if (!viewer)
		return -ENOMEM;
	ptsched_viewer_init(viewer, cb->skb);
	cb->args[2] = (long)viewer;
	return 0;
}

/**
 * ptsched_end_dump - undo ptsched_start_dump()
 * @cb: the dump
 */
int ptsched_end_dump(struct netlink_callback *cb)
{
	ptsched_viewer_exit(ptsched_dump_viewer(cb));
	kfree(ptsched_dump_viewer(cb));
	return 0;
}

/**
 * ptsched_dump_each - dump what the devices that are asked for have
 * @skb: the answer
 * @cb: the dump; args[1] and from args[3] on are 0 where a device begins
 * @dump: dumps what one device has, or what there is room for: then not 0
 */
int ptsched_dump_each(struct sk_buff *skb, struct netlink_callback *cb, ptsched_dump_fn *dump)
{
	struct nlattr *only = ptsched_dump_attrs(cb)[PTSCHED_A_DEVICE_ID];
	struct ptsched_dev *dev;

	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		if (only && dev->id != nla_get_u32(only))
			continue;
		if (dev->id < cb->args[0])
			continue;
		if (dump(skb, cb, dev))
			break;
		cb->args[0] = dev->id + 1;
		cb->args[1] = 0;
		cb->args[3] = 0;
	}
	mutex_unlock(&ptsched_devices_lock);
	return skb->len;
}

static int dump_entities(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ptsched_dump_each(skb, cb, dump_dev_entities);
}

/**
 * ptsched_is_admin - whether the sender may change settings; else it is told why not
 * @skb: the request
 * @info: the same
 */
bool ptsched_is_admin(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return true;
	GENL_SET_ERR_MSG(info, "CAP_SYS_ADMIN is needed");
	return false;
}

/**
 * ptsched_is_wanted - whether a request is about a device
 * @dev: the device
 * @info: the request
 */
bool ptsched_is_wanted(const struct ptsched_dev *dev, const struct genl_info *info)
{
	const struct nlattr *only = info->attrs[PTSCHED_A_DEVICE_ID];

	return !only || nla_get_u32(only) == dev->id;
}

/**
 * ptsched_no_device - the device that a request names is not there
 * @info: the request
 *
 * Return: -ENODEV.
 */
int ptsched_no_device(struct genl_info *info)
{
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[PTSCHED_A_DEVICE_ID], "no such device");
	return -ENODEV;
}

/* Puts what is asked for over @params; whether that is allowed is not looked at. */
static void merge_params(struct ptsp_params *params, struct nlattr **attrs)
{
	if (attrs[PTSCHED_A_POLICY])
		params->kind = nla_get_u32(attrs[PTSCHED_A_POLICY]);
	if (attrs[PTSCHED_A_GROUPING])
		params->grouping = nla_get_u32(attrs[PTSCHED_A_GROUPING]);
	if (attrs[PTSCHED_A_IDLE_SHARING])
		params->idle_sharing = nla_get_u8(attrs[PTSCHED_A_IDLE_SHARING]);
	if (attrs[PTSCHED_A_MANY])
		params->many = nla_get_u8(attrs[PTSCHED_A_MANY]);
	if (attrs[PTSCHED_A_SLICE_NS])
		params->slice_ns = nla_get_u64(attrs[PTSCHED_A_SLICE_NS]);
	if (attrs[PTSCHED_A_GRACE_NS])
		params->grace_ns = nla_get_u64(attrs[PTSCHED_A_GRACE_NS]);
	if (attrs[PTSCHED_A_DRAIN_NS])
		params->drain_ns = nla_get_u64(attrs[PTSCHED_A_DRAIN_NS]);
	if (attrs[PTSCHED_A_INFLIGHT_NS])
		params->inflight_ns = nla_get_u64(attrs[PTSCHED_A_INFLIGHT_NS]);
	if (attrs[PTSCHED_A_ALPHA])
		params->alpha = nla_get_u32(attrs[PTSCHED_A_ALPHA]);
}

/* Names the attribute that is out of its range. */
static int check_params(struct genl_info *info)
{
	struct ptsp_params params = ptsp_default_params();

	if (info->attrs[PTSCHED_A_IDLE_SHARING] &&
	    nla_get_u8(info->attrs[PTSCHED_A_IDLE_SHARING]) > 1)
		return OUT_OF_RANGE(info, PTSCHED_A_IDLE_SHARING, "idle sharing: 0 or 1");
	if (info->attrs[PTSCHED_A_MANY] && nla_get_u8(info->attrs[PTSCHED_A_MANY]) > 1)
		return OUT_OF_RANGE(info, PTSCHED_A_MANY, "many: 0 or 1");
	merge_params(&params, info->attrs);
	switch (ptsp_check_params(&params)) {
	case PTSP_PARAM_OK:
		return 0;
	case PTSP_PARAM_KIND:
		return OUT_OF_RANGE(info, PTSCHED_A_POLICY,
				    "policy: 0 (weighted), 1 (literal) or 2 (none)");
	case PTSP_PARAM_GROUPING:
		return OUT_OF_RANGE(info, PTSCHED_A_GROUPING,
				    "grouping: 0 (process), 1 (user) or 2 (cgroup)");
	case PTSP_PARAM_ALPHA:
		return OUT_OF_RANGE(info, PTSCHED_A_ALPHA, "alpha: 1 to 1000");
	case PTSP_PARAM_SLICE:
		return OUT_OF_RANGE(info, PTSCHED_A_SLICE_NS, "slice: 100000 to 1000000000 ns");
	case PTSP_PARAM_GRACE:
		return OUT_OF_RANGE(info, PTSCHED_A_GRACE_NS, "grace: 0 to 1000000000 ns");
	case PTSP_PARAM_DRAIN:
		return OUT_OF_RANGE(info, PTSCHED_A_DRAIN_NS, "drain: 1000000 to 10000000000 ns");
	case PTSP_PARAM_INFLIGHT:
		return OUT_OF_RANGE(info, PTSCHED_A_INFLIGHT_NS,
				    "work in flight: 10000 to 1000000000 ns");
	}
	return -EINVAL;
}

static int set_devices(struct sk_buff *skb, struct genl_info *info)
{
	struct ptsp_params params;
	struct ptsched_dev *dev;
	bool found = false;
	int ret;

	if (!ptsched_is_admin(skb, info))
		return -EPERM;
	if (info->attrs[PTSCHED_A_NODE] && !info->attrs[PTSCHED_A_DEVICE_ID]) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[PTSCHED_A_NODE],
				    "a node belongs to one device: say to which");
		return -EINVAL;
	}
	ret = check_params(info);
	if (ret)
		return ret;
	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		if (!ptsched_is_wanted(dev, info))
			continue;
		found = true;
		/* Written under ptsched_devices_lock only. */
		params = dev->policy.params;
		merge_params(&params, info->attrs);
		if (info->attrs[PTSCHED_A_NODE])
			dev->node = nla_get_u64(info->attrs[PTSCHED_A_NODE]);
		ptsched_dev_set_params(dev, &params);
	}
	mutex_unlock(&ptsched_devices_lock);
	return found || !info->attrs[PTSCHED_A_DEVICE_ID] ? 0 : ptsched_no_device(info);
}

static bool set_weight(struct ptsched_dev *dev, struct pid *pid, u32 weight)
{
	struct ptsched_entity *ent;

	ptsched_lock(dev);
	ent = ptsched_entity_find(dev, pid);
	if (ent) {
		ent->weight_set = weight;
		dev->changed = true;
	}
	ptsched_unlock(dev);
	return ent;
}

static int set_entity(struct sk_buff *skb, struct genl_info *info)
{
	bool device = false, entity = false;
	struct ptsched_dev *dev;
	struct pid *pid;
	u32 weight;

	if (!ptsched_is_admin(skb, info))
		return -EPERM;
	if (GENL_REQ_ATTR_CHECK(info, PTSCHED_A_PID) || GENL_REQ_ATTR_CHECK(info, PTSCHED_A_WEIGHT))
		return -EINVAL;
	weight = nla_get_u32(info->attrs[PTSCHED_A_WEIGHT]);
	if (weight > PTSCHED_WEIGHT_MAX)
		return OUT_OF_RANGE(info, PTSCHED_A_WEIGHT,
				    "weight: 1 to 1000000, or 0 for that of nice");
	pid = find_get_pid(nla_get_u32(info->attrs[PTSCHED_A_PID]));
	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		if (!ptsched_is_wanted(dev, info))
			continue;
		device = true;
		if (pid)
			entity |= set_weight(dev, pid, weight);
	}
	mutex_unlock(&ptsched_devices_lock);
	put_pid(pid);
	if (!device && info->attrs[PTSCHED_A_DEVICE_ID])
		return ptsched_no_device(info);
	if (!entity) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[PTSCHED_A_PID],
				    "the process is not attached");
		return -ESRCH;
	}
	return 0;
}

static const struct genl_ops ops[] = {
	{
		.cmd = PTSCHED_CMD_GET_DEVICE,
		.dumpit = dump_devices,
		.policy = no_attributes,
		.maxattr = ARRAY_SIZE(no_attributes) - 1,
	},
	{
		.cmd = PTSCHED_CMD_GET_ENTITY,
		.start = ptsched_start_dump,
		.dumpit = dump_entities,
		.done = ptsched_end_dump,
		.policy = of_a_device,
		.maxattr = ARRAY_SIZE(of_a_device) - 1,
	},
	{
		.cmd = PTSCHED_CMD_SET_DEVICE,
		.doit = set_devices,
		.policy = set_device_policy,
		.maxattr = ARRAY_SIZE(set_device_policy) - 1,
	},
	{
		.cmd = PTSCHED_CMD_SET_ENTITY,
		.doit = set_entity,
		.policy = set_entity_policy,
		.maxattr = ARRAY_SIZE(set_entity_policy) - 1,
	},
	{
		.cmd = PTSCHED_CMD_SET_USER,
		.doit = ptsched_set_user,
		.policy = ptsched_set_user_policy,
		.maxattr = ARRAY_SIZE(ptsched_set_user_policy) - 1,
	},
	{
		.cmd = PTSCHED_CMD_SET_CGROUP,
		.doit = ptsched_set_cgroup,
		.policy = ptsched_set_cgroup_policy,
		.maxattr = ARRAY_SIZE(ptsched_set_cgroup_policy) - 1,
	},
	{
		.cmd = PTSCHED_CMD_GET_ACCOUNT,
		.start = ptsched_start_dump,
		.dumpit = ptsched_dump_accounts,
		.done = ptsched_end_dump,
		.policy = of_a_device,
		.maxattr = ARRAY_SIZE(of_a_device) - 1,
	},
	{
		.cmd = PTSCHED_CMD_SUBSCRIBE,
		.doit = ptsched_listen,
		.policy = no_attributes,
		.maxattr = ARRAY_SIZE(no_attributes) - 1,
	},
};

struct genl_family ptsched_genl_family __ro_after_init = {
	.name = PTSCHED_GENL_NAME,
	.version = PTSCHED_GENL_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.maxattr = PTSCHED_A_MAX,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
};

/** ptsched_netlink_init - register the family; 0 or a negative errno */
int ptsched_netlink_init(void)
{
	return genl_register_family(&ptsched_genl_family);
}

/** ptsched_netlink_exit - unregister it */
void ptsched_netlink_exit(void)
{
	genl_unregister_family(&ptsched_genl_family);
}
