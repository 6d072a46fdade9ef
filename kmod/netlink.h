/* SPDX-License-Identifier: GPL-2.0-only */
/* What the requests of generic netlink have in common: of netlink.c and netlink_accounts.c. */
#ifndef PTSCHED_NETLINK_H
#define PTSCHED_NETLINK_H

#include <net/genetlink.h>
#include <net/netlink.h>

#include "core.h"

#define OUT_OF_RANGE(_info, _attr, _range) ({					\
	struct genl_info *__i = (_info);					\
	NL_SET_ERR_MSG_ATTR(__i->extack, __i->attrs[_attr], _range);		\
	-ERANGE;								\
})

static inline int ptsched_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, PTSCHED_A_PAD);
}

static inline void *ptsched_put_header(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &ptsched_genl_family, NLM_F_MULTI, cmd);
}

/* Who reads, from ptsched_start_dump() to ptsched_end_dump(). */
static inline struct ptsched_viewer *ptsched_dump_viewer(const struct netlink_callback *cb)
{
	return (struct ptsched_viewer *)cb->args[2];
}

typedef int ptsched_dump_fn(struct sk_buff *skb, struct netlink_callback *cb,
			    struct ptsched_dev *dev);

/* netlink.c */
int ptsched_start_dump(struct netlink_callback *cb);
int ptsched_end_dump(struct netlink_callback *cb);
int ptsched_dump_each(struct sk_buff *skb, struct netlink_callback *cb, ptsched_dump_fn *dump);
bool ptsched_is_admin(struct sk_buff *skb, struct genl_info *info);
bool ptsched_is_wanted(const struct ptsched_dev *dev, const struct genl_info *info);
int ptsched_no_device(struct genl_info *info);

/* netlink_accounts.c */
extern const struct nla_policy ptsched_set_user_policy[PTSCHED_A_SHARE + 1];
extern const struct nla_policy ptsched_set_cgroup_policy[PTSCHED_A_CGROUP_FD + 1];

int ptsched_set_user(struct sk_buff *skb, struct genl_info *info);
int ptsched_set_cgroup(struct sk_buff *skb, struct genl_info *info);
int ptsched_dump_accounts(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* PTSCHED_NETLINK_H */
