/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the module do for each other, file by file. */
#ifndef PTSCHED_CORE_H
#define PTSCHED_CORE_H

#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>

#include "objects.h"

struct cred;
struct file;
struct genl_family;
struct genl_info;
struct seq_file;
struct sk_buff;

/* Whether it is measured how long devices are locked. */
DECLARE_STATIC_KEY_FALSE(ptsched_measures_holds);

/* What must not hold up who decides, and what may sleep. */
extern struct workqueue_struct *ptsched_wq;

/* main.c */
int ptsched_begin(void);
void ptsched_end(void);
void ptsched_end_devices(void);

extern struct list_head ptsched_devices;
extern struct mutex ptsched_devices_lock;

/* device.c */
struct ptsched_dev *ptsched_dev_add(const char *name, const char *uuid);
void ptsched_dev_remove(struct ptsched_dev *dev);
void ptsched_dev_remove_all(void);
void ptsched_dev_exit(void);
struct ptsched_dev *ptsched_dev_find(const char *name);
void ptsched_dev_put(struct ptsched_dev *dev);
u32 ptsched_dev_count(void);
int ptsched_add_test_devices(unsigned int count);
void ptsched_dev_set_params(struct ptsched_dev *dev, const struct ptsp_params *params);
void ptsched_run(struct ptsched_dev *dev, u64 now);

/**
 * ptsched_lock - lock a device
 * @dev: the device
 *
 * Return: the time, for the policy: read under the lock, so that it never falls.
 */
static inline u64 ptsched_lock(struct ptsched_dev *dev) __acquires(&dev->lock)
{
	spin_lock_bh(&dev->lock);
	dev->visit++;
	dev->locked_ns = ktime_get_ns();
	return dev->locked_ns;
}

static inline int ptsched_nice(const struct task_struct *task)
{
	/* Who changes it has no lock of ours; the old and the new are equally right. */
	return data_race(task_nice(task));
}

/* entity.c */
extern const struct ptsp_ops ptsched_policy_ops;

int ptsched_entity_init(void);
void ptsched_entity_await_end(void);
void ptsched_entity_exit(void);
struct ptsched_entity *ptsched_entity_of(const struct ptsp_entity *e);
struct ptsched_entity *ptsched_entity_find(struct ptsched_dev *dev, const struct pid *pid);
struct ptsched_entity *ptsched_entity_from(struct ptsched_dev *dev, u64 id);
struct ptsched_entity *ptsched_entity_new(struct ptsched_dev *dev, struct pid *pid);
struct ptsched_entity *ptsched_entity_join(struct ptsched_entity *new, u64 now);
void ptsched_entity_update(struct ptsched_entity *ent, u64 now);
void ptsched_entity_leaving(struct ptsched_entity *ent);
void ptsched_entity_leave_if_unused(struct ptsched_entity *ent, u64 now);
void ptsched_entity_end(struct ptsched_entity *ent);
void ptsched_entity_put(struct ptsched_entity *ent);
u32 ptsched_entity_weight(struct ptsched_entity *ent);
int ptsched_entity_nice(struct ptsched_entity *ent);
const char *ptsched_entity_comm(struct ptsched_entity *ent);
kuid_t ptsched_entity_owner(struct ptsched_entity *ent);

/* In a tree that is in the order of @key_of, the first whose key is @key or more. */
static inline struct rb_node *ptsched_first_from(const struct rb_root *tree, u64 key,
						 u64 (*key_of)(const struct rb_node *node))
{
	struct rb_node *node = tree->rb_node, *first = NULL;

	while (node) {
		if (key_of(node) >= key) {
			first = node;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return first;
}

/* account.c */
int ptsched_accounts_init(void);
void ptsched_accounts_exit(void);
struct ptsched_user *ptsched_user_new(void);
void ptsched_user_free(struct ptsched_user *user);
struct ptsched_user *ptsched_user_from(struct ptsched_dev *dev, kuid_t uid);
int ptsched_user_set_share(struct ptsched_dev *dev, kuid_t uid, u32 share);
struct ptsp_user *ptsched_account_open(struct ptsched_entity *ent, u64 now);
void ptsched_account_close(struct ptsched_entity *ent);
struct ptsp_user *ptsched_account_of(struct ptsched_entity *ent, u64 now);
void ptsched_account_follow(struct ptsched_entity *ent, u64 now);
void ptsched_accounts_sweep(struct ptsched_dev *dev, u64 now);
void ptsched_accounts_free(struct ptsched_dev *dev);

/* cgroup.c */
#ifdef CONFIG_CGROUPS
int ptsched_cgroups_init(void);
void ptsched_cgroups_exit(void);
struct ptsched_cgroup *ptsched_cgroup_from(struct ptsched_dev *dev, u64 id);
struct ptsp_user *ptsched_cgroup_account(struct ptsched_entity *ent, u64 now);
void ptsched_cgroup_leave(struct ptsched_entity *ent, struct ptsched_cgroup *group);
void ptsched_cgroup_charge(struct ptsched_entity *ent, u64 gpu_ns);
struct cgroup *ptsched_cgroup_by_fd(int fd, const struct cred *opener);
void ptsched_cgroup_put(struct cgroup *cgrp);
int ptsched_cgroup_set_share(struct ptsched_dev *dev, struct cgroup *cgrp, u32 share);
void ptsched_cgroups_sweep(struct ptsched_dev *dev, u64 now);
void ptsched_cgroups_free(struct ptsched_dev *dev);
#else
static inline int ptsched_cgroups_init(void)
{
	return 0;
}

static inline void ptsched_cgroups_exit(void)
{
}

static inline struct ptsched_cgroup *ptsched_cgroup_from(struct ptsched_dev *dev, u64 id)
{
	return NULL;
}

static inline struct ptsp_user *ptsched_cgroup_account(struct ptsched_entity *ent, u64 now)
{
	return &ent->user->policy;
}

static inline void ptsched_cgroup_leave(struct ptsched_entity *ent, struct ptsched_cgroup *group)
{
}

static inline void ptsched_cgroup_charge(struct ptsched_entity *ent, u64 gpu_ns)
{
}

static inline struct cgroup *ptsched_cgroup_by_fd(int fd, const struct cred *opener)
{
	return ERR_PTR(-EBADF);
}

static inline void ptsched_cgroup_put(struct cgroup *cgrp)
{
}

static inline int ptsched_cgroup_set_share(struct ptsched_dev *dev, struct cgroup *cgrp, u32 share)
{
	return -EINVAL;
}

static inline void ptsched_cgroups_sweep(struct ptsched_dev *dev, u64 now)
{
}

static inline void ptsched_cgroups_free(struct ptsched_dev *dev)
{
}
#endif

/* announce.c */
bool ptsched_announces_later(struct ptsched_entity *ent, u32 changed);
u64 ptsched_announce(struct ptsched_dev *dev, u64 now);

/* client.c */
struct ptsched_client *ptsched_client_new(void);
void ptsched_client_put(struct ptsched_client *client);
void ptsched_client_free(struct ptsched_client *client);
int ptsched_client_act_for(struct ptsched_client *client, struct pid *pid,
			   struct ptsched_client *giver);
void ptsched_client_move(struct ptsched_client *client, struct ptsched_entity *to, u64 now);
void ptsched_client_show(struct ptsched_client *client);
void ptsched_client_tell(struct ptsched_client *client);
void ptsched_client_close(struct ptsched_client *client, u64 now);
void ptsched_client_flush(struct ptsched_client *client);
int ptsched_clients_init(void);

/**
 * ptsched_client_may_act_on - whether a client may go on acting for its requester
 * @client: the client, its device locked; it may act for nobody
 */
static inline bool ptsched_client_may_act_on(const struct ptsched_client *client)
{
	lockdep_assert_held(&client->dev->lock);
	return ptsc_acts_on(&client->entity->contract,
			    client->giver ? &client->giver->contract : NULL);
}

void ptsched_clients_exit(void);

/* turn.c */
void ptsched_turn_granted(struct ptsched_entity *ent);
void ptsched_turn_admit(struct ptsched_entity *ent);
void ptsched_turn_admit_some(struct ptsched_dev *dev, unsigned int most);
struct task_struct *ptsched_turn_next_woken(struct ptsched_dev *dev);
void ptsched_turn_charge(struct ptsched_entity *ent, u64 gpu_ns, u32 submissions, u64 now);
void ptsched_turn_drop(struct ptsched_client *client, u64 handover_ns, u64 now);
void ptsched_turn_refuse(struct ptsched_client *client);

/* tell.c */
void ptsched_unlock(struct ptsched_dev *dev) __releases(&dev->lock);
void ptsched_poll_wake(struct ptsched_client *client);
void ptsched_event(struct ptsched_dev *dev, struct ptsched_entity *ent, u32 event);
void ptsched_tell_wait(struct ptsched_entity *ent);
void ptsched_tell_cancel(struct ptsched_entity *ent);
void ptsched_tell_waits(struct ptsched_dev *dev);
void ptsched_tell_init(struct ptsched_dev *dev);
void ptsched_crowd_wake(struct work_struct *work);

/*
 * What each call does, in the file that it is about: ptsched_call_attach() and so on. Arguments
 * are checked; but for QUERY and ATTACH the client is attached, by the calling process.
 */
#define PTSC_CALL(NAME, name, ...)							\
	int ptsched_call_##name(struct ptsched_client *client, struct ptsched_##name *arg);
#include "contract/calls.h"

/* file.c */
int ptsched_file_init(void);
void ptsched_file_exit(void);

/* fdinfo.c */
void ptsched_show_fdinfo(struct seq_file *m, struct file *file);

/* group.c */
void ptsched_group_granted(struct ptsched_entity *ent);
u64 ptsched_group_again(struct ptsched_dev *dev, u64 now);
void ptsched_group_leave(struct ptsched_entity *ent);
const char *ptsched_group_name(const struct ptsched_entity *ent);

/* netlink.c, netlink_accounts.c */
extern struct genl_family ptsched_genl_family;

int ptsched_netlink_init(void);
void ptsched_netlink_exit(void);

/* listen.c */
int ptsched_listeners_init(void);
void ptsched_listeners_exit(void);
extern unsigned int ptsched_nr_listeners;	/* written under a lock of listen.c */
int ptsched_listen(struct sk_buff *skb, struct genl_info *info);
void ptsched_listeners_tell(const struct ptsched_dev *dev, const struct ptsched_told *told);
void ptsched_listeners_lose(void);

/* Whether anybody wants events: asked several times in each turn. */
static inline bool ptsched_listeners(void)
{
	return READ_ONCE(ptsched_nr_listeners);
}

/* node.c */
int ptsched_node_check(const struct ptsched_dev *dev, const struct ptsched_attach *arg);

/* viewer.c */

/**
 * struct ptsched_viewer - who looks at processes over netlink
 * @cred: of who opened the socket, with a reference
 * @pid_ns: in which it knows processes, with a reference
 * @sees_all: not only its own
 */
struct ptsched_viewer {
	const struct cred *cred;
	struct pid_namespace *pid_ns;
	bool sees_all;
};

void ptsched_viewer_init(struct ptsched_viewer *viewer, struct sk_buff *skb);
void ptsched_viewer_exit(struct ptsched_viewer *viewer);
u32 ptsched_viewer_pid(const struct ptsched_viewer *viewer, struct pid *pid, kuid_t owner);
bool ptsched_viewer_sees_user(const struct ptsched_viewer *viewer, kuid_t uid);
bool ptsched_viewer_sees_account(const struct ptsched_viewer *viewer, kuid_t uid);
u32 ptsched_viewer_uid(const struct ptsched_viewer *viewer, kuid_t uid);

/* pci.c */
#ifdef CONFIG_PCI
int ptsched_pci_init(void);
void ptsched_pci_exit(void);
#else
static inline int ptsched_pci_init(void)
{
	return 0;
}

static inline void ptsched_pci_exit(void)
{
}
#endif

/* settings.c */
struct ptsp_params ptsched_settings(void);
unsigned int ptsched_test_devices(void);

#endif /* PTSCHED_CORE_H */
