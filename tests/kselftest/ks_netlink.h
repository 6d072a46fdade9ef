/* SPDX-License-Identifier: MIT */
/* Dumps and settings of the module, as the tests need them. */
#ifndef KS_NETLINK_H
#define KS_NETLINK_H

#include <linux/ptsched.h>
#include <stdint.h>
#include <sys/types.h>

#define KS_MAX_ENTITIES 4096

struct ks_entity {
	uint32_t device_id;
	uint32_t pid;
	uint32_t uid;
	uint32_t state;
	uint32_t weight;
	uint32_t weight_set;
	uint32_t clients;
	int32_t nice;
	int64_t budget_ns;
	uint64_t turns;
	uint64_t held_ns;
	uint64_t submissions;
	char comm[PTSCHED_COMM_LEN];
};

struct ks_device {
	uint32_t id;
	char name[PTSCHED_NAME_LEN];
	char uuid[PTSCHED_NAME_LEN];
	uint32_t policy;
	uint32_t idle_sharing;
	uint32_t many;
	uint64_t slice_ns;
	uint64_t grace_ns;
	uint64_t drain_ns;
	uint64_t inflight_ns;
	uint32_t alpha;
	uint32_t entities;
	uint32_t waiters;
	uint64_t turns;
};

/* What a user has, or a cgroup: of a user @cgroup is 0. */
struct ks_account {
	uint32_t device_id;
	uint32_t uid;
	uint64_t cgroup;
	uint64_t parent;
	uint32_t share;
	uint32_t entities;
	uint64_t gpu_ns;
};

/* Number of entities (of one device, or of all with -1), or a negative errno. */
int ks_entities(int device, struct ks_entity *out, int max);
int ks_devices(struct ks_device *out, int max);
int ks_accounts(int device, struct ks_account *out, int max);

/* The state of a process on the first device; -1 if it is not there. */
int ks_state(pid_t pid);
int ks_entity(pid_t pid, struct ks_entity *out);
uint32_t ks_waiters(void);
int ks_count(void);

/* One attribute of a setting. */
struct ks_attr {
	int type;
	int size; /* 1, 4 or 8 */
	uint64_t value;
};

/* Sends a SET command; 0 or a negative errno. @message and @offset of the refusal, if
 * any: the kernel's text, and the type of the attribute that it names, 0 for none. */
int ks_set(int command, const struct ks_attr *attrs, int count, char *message, size_t size,
	   int *refused);

/* After what time without a release a turn is shared by force. For tests in which somebody
 * waits: not, however slow the machine, and back to the default. */
int ks_set_drain(uint64_t drain_ns);
int ks_be_patient(void);
int ks_be_impatient(void);

/* A socket that listens to events, and the next event from it. */
struct ks_event {
	uint32_t event;
	uint32_t pid;
	uint32_t device_id;
	uint64_t turn;
	uint64_t time_ns;
	int64_t budget_ns;
};

struct nl_sock *ks_events_open(void);
int ks_events_next(struct nl_sock *sock, struct ks_event *out);
void ks_events_close(struct nl_sock *sock);

#endif /* KS_NETLINK_H */
