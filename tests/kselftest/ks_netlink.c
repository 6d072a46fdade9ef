// SPDX-License-Identifier: MIT
#include "ks_netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct dump {
	void *out;
	int max;
	int count;
	int error;
};

static struct nl_sock *connect_family(int *family)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (!sock)
		return NULL;
	if (genl_connect(sock) || (*family = genl_ctrl_resolve(sock, PTSCHED_GENL_NAME)) < 0) {
		nl_socket_free(sock);
		return NULL;
	}
	return sock;
}

static uint32_t get_u32(struct nlattr **attrs, int type)
{
	return attrs[type] ? nla_get_u32(attrs[type]) : 0;
}

static uint64_t get_u64(struct nlattr **attrs, int type)
{
	return attrs[type] ? nla_get_u64(attrs[type]) : 0;
}

static uint32_t get_u8(struct nlattr **attrs, int type)
{
	return attrs[type] ? nla_get_u8(attrs[type]) : 0;
}

static void get_string(struct nlattr **attrs, int type, char *out, size_t size)
{
	if (attrs[type])
		nla_strlcpy(out, attrs[type], size);
}

/* Where the next one of @size goes, and its attributes; NULL: it cannot be read, or there is no room. */
static void *next(struct dump *dump, struct nl_msg *msg, struct nlattr **attrs, size_t size)
{
	if (genlmsg_parse(nlmsg_hdr(msg), 0, attrs, PTSCHED_A_MAX, NULL) || dump->count == dump->max) {
		dump->error = -EOVERFLOW;
		return NULL;
	}
	return (char *)dump->out + size * dump->count++;
}

static int on_entity(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[PTSCHED_A_MAX + 1];
	struct ks_entity *e = next(arg, msg, attrs, sizeof(*e));

	if (!e)
		return NL_SKIP;
	*e = (struct ks_entity){
	    .device_id = get_u32(attrs, PTSCHED_A_DEVICE_ID),
	    .pid = get_u32(attrs, PTSCHED_A_PID),
	    .uid = get_u32(attrs, PTSCHED_A_UID),
	    .state = get_u32(attrs, PTSCHED_A_STATE),
	    .weight = get_u32(attrs, PTSCHED_A_WEIGHT),
	    .weight_set = get_u8(attrs, PTSCHED_A_WEIGHT_SET),
	    .clients = get_u32(attrs, PTSCHED_A_CLIENTS),
	    .nice = (int32_t)get_u32(attrs, PTSCHED_A_NICE),
	    .budget_ns = (int64_t)get_u64(attrs, PTSCHED_A_BUDGET_NS),
	    .turns = get_u64(attrs, PTSCHED_A_TURNS),
	    .held_ns = get_u64(attrs, PTSCHED_A_HELD_NS),
	    .submissions = get_u64(attrs, PTSCHED_A_SUBMISSIONS),
	};
	get_string(attrs, PTSCHED_A_COMM, e->comm, sizeof(e->comm));
	return NL_OK;
}

static int on_device(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[PTSCHED_A_MAX + 1];
	struct ks_device *d = next(arg, msg, attrs, sizeof(*d));

	if (!d)
		return NL_SKIP;
	*d = (struct ks_device){
	    .id = get_u32(attrs, PTSCHED_A_DEVICE_ID),
	    .policy = get_u32(attrs, PTSCHED_A_POLICY),
	    .idle_sharing = get_u8(attrs, PTSCHED_A_IDLE_SHARING),
	    .many = get_u8(attrs, PTSCHED_A_MANY),
	    .slice_ns = get_u64(attrs, PTSCHED_A_SLICE_NS),
	    .grace_ns = get_u64(attrs, PTSCHED_A_GRACE_NS),
	    .drain_ns = get_u64(attrs, PTSCHED_A_DRAIN_NS),
	    .inflight_ns = get_u64(attrs, PTSCHED_A_INFLIGHT_NS),
	    .alpha = get_u32(attrs, PTSCHED_A_ALPHA),
	    .entities = get_u32(attrs, PTSCHED_A_ENTITIES),
	    .waiters = get_u32(attrs, PTSCHED_A_WAITERS),
	    .turns = get_u64(attrs, PTSCHED_A_TURNS),
	};
	get_string(attrs, PTSCHED_A_DEVICE, d->name, sizeof(d->name));
	get_string(attrs, PTSCHED_A_UUID, d->uuid, sizeof(d->uuid));
	return NL_OK;
}

static int on_account(struct nl_msg *msg, void *arg)
{
	struct nlattr *attrs[PTSCHED_A_MAX + 1];
	struct ks_account *account = next(arg, msg, attrs, sizeof(*account));

	if (!account)
		return NL_SKIP;
	*account = (struct ks_account){
	    .device_id = get_u32(attrs, PTSCHED_A_DEVICE_ID),
	    .uid = get_u32(attrs, PTSCHED_A_UID),
	    .cgroup = get_u64(attrs, PTSCHED_A_CGROUP),
	    .parent = get_u64(attrs, PTSCHED_A_PARENT_CGROUP),
	    .share = get_u32(attrs, PTSCHED_A_SHARE),
	    .entities = get_u32(attrs, PTSCHED_A_ENTITIES),
	    .gpu_ns = get_u64(attrs, PTSCHED_A_GPU_NS),
	};
	return NL_OK;
}

static int dump(int command, int device, nl_recvmsg_msg_cb_t callback, struct dump *result)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nl_sock *sock;
	int family, ret;

	sock = connect_family(&family);
	if (!sock || !msg) {
		nlmsg_free(msg);
		nl_socket_free(sock);
		return -ENOENT;
	}
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_DUMP, command,
		    PTSCHED_GENL_VERSION);
	if (device >= 0)
		nla_put_u32(msg, PTSCHED_A_DEVICE_ID, (uint32_t)device);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, callback, result);
	ret = nl_send_auto(sock, msg);
	if (ret >= 0)
		ret = nl_recvmsgs_default(sock);
	nlmsg_free(msg);
	nl_socket_free(sock);
	if (ret == -NLE_NODEV)
		return -ENODEV;
	return ret < 0 ? -EIO : result->error ? result->error : result->count;
}

int ks_entities(int device, struct ks_entity *out, int max)
{
	struct dump result = {.out = out, .max = max};

	return dump(PTSCHED_CMD_GET_ENTITY, device, on_entity, &result);
}

int ks_devices(struct ks_device *out, int max)
{
	struct dump result = {.out = out, .max = max};

	return dump(PTSCHED_CMD_GET_DEVICE, -1, on_device, &result);
}

int ks_accounts(int device, struct ks_account *out, int max)
{
	struct dump result = {.out = out, .max = max};

	return dump(PTSCHED_CMD_GET_ACCOUNT, device, on_account, &result);
}

int ks_entity(pid_t pid, struct ks_entity *out)
{
	static struct ks_entity all[KS_MAX_ENTITIES];
	int count = ks_entities(-1, all, KS_MAX_ENTITIES);

	for (int i = 0; i < count; i++) {
		if (all[i].pid != (uint32_t)pid)
			continue;
		*out = all[i];
		return 0;
	}
	return -ESRCH;
}

int ks_state(pid_t pid)
{
	struct ks_entity e;

	return ks_entity(pid, &e) ? -1 : (int)e.state;
}

int ks_count(void)
{
	static struct ks_entity all[KS_MAX_ENTITIES];

	return ks_entities(-1, all, KS_MAX_ENTITIES);
}

uint32_t ks_waiters(void)
{
	struct ks_device devices[32];
	uint32_t waiters = 0;

	for (int i = 0, n = ks_devices(devices, 32); i < n; i++)
		waiters += devices[i].waiters;
	return waiters;
}

/* The type of the attribute at @offset of the message that was sent. */
static int type_at(struct nlmsghdr *sent, uint32_t offset)
{
	const struct nlattr *attr = (const void *)((const char *)sent + offset);

	return offset + sizeof(*attr) <= sent->nlmsg_len ? nla_type(attr) : 0;
}

static int parse_ack(struct nlmsghdr *hdr, struct nlmsghdr *sent, char *message, size_t size,
		     int *refused)
{
	struct nlmsgerr *err = nlmsg_data(hdr);
	int fixed = (int)sizeof(*err);
	struct nlattr *attr;
	int left;

	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		fixed += (int)(err->msg.nlmsg_len - sizeof(err->msg));
	left = nlmsg_datalen(hdr) - fixed;
	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS))
		return err->error;
	for (attr = (void *)((char *)err + fixed); nla_ok(attr, left); attr = nla_next(attr, &left)) {
		if (nla_type(attr) == NLMSGERR_ATTR_MSG && message)
			nla_strlcpy(message, attr, size);
		if (nla_type(attr) == NLMSGERR_ATTR_OFFS && refused)
			*refused = type_at(sent, nla_get_u32(attr));
	}
	return err->error;
}

static int transact(struct nl_sock *sock, struct nl_msg *msg, char *message, size_t size,
		    int *refused)
{
	char buffer[4096];
	struct nlmsghdr *hdr = (void *)buffer;
	int one = 1;
	ssize_t got;

	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	if (nl_send_auto(sock, msg) < 0)
		return -EIO;
	got = recv(nl_socket_get_fd(sock), buffer, sizeof(buffer), 0);
	if (got < (ssize_t)sizeof(*hdr) || hdr->nlmsg_type != NLMSG_ERROR)
		return -EIO;
	return parse_ack(hdr, nlmsg_hdr(msg), message, size, refused);
}

int ks_set(int command, const struct ks_attr *attrs, int count, char *message, size_t size,
	   int *refused)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nl_sock *sock;
	int family, ret;

	sock = connect_family(&family);
	if (!sock || !msg) {
		nlmsg_free(msg);
		nl_socket_free(sock);
		return -ENOENT;
	}
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_ACK, command,
		    PTSCHED_GENL_VERSION);
	for (int i = 0; i < count; i++)
		nla_put(msg, attrs[i].type, attrs[i].size, &attrs[i].value);
	if (message)
		*message = '\0';
	if (refused)
		*refused = 0;
	ret = transact(sock, msg, message, size, refused);
	nlmsg_free(msg);
	nl_socket_free(sock);
	return ret;
}

int ks_set_drain(uint64_t drain_ns)
{
	struct ks_attr drain = {PTSCHED_A_DRAIN_NS, 8, drain_ns};

	return ks_set(PTSCHED_CMD_SET_DEVICE, &drain, 1, NULL, 0, NULL);
}

int ks_be_patient(void)
{
	return ks_set_drain(PTSCHED_DRAIN_MAX_NS);
}

int ks_be_impatient(void)
{
	return ks_set_drain(100000000);
}

struct nl_sock *ks_events_open(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int family;

	if (!sock || genl_connect(sock))
		goto err;
	family = genl_ctrl_resolve(sock, PTSCHED_GENL_NAME);
	nl_socket_disable_seq_check(sock);
	if (family < 0 || genl_send_simple(sock, family, PTSCHED_CMD_SUBSCRIBE,
					   PTSCHED_GENL_VERSION, NLM_F_ACK) < 0 ||
	    nl_wait_for_ack(sock))
		goto err;
	return sock;
err:
	nl_socket_free(sock);
	return NULL;
}

int ks_events_next(struct nl_sock *sock, struct ks_event *out)
{
	char buffer[4096];
	struct nlmsghdr *hdr = (void *)buffer;
	struct nlattr *attrs[PTSCHED_A_MAX + 1];
	ssize_t got = recv(nl_socket_get_fd(sock), buffer, sizeof(buffer), 0);

	if (got < (ssize_t)sizeof(*hdr) || genlmsg_parse(hdr, 0, attrs, PTSCHED_A_MAX, NULL))
		return -EIO;
	*out = (struct ks_event){
	    .event = get_u32(attrs, PTSCHED_A_EVENT),
	    .pid = get_u32(attrs, PTSCHED_A_PID),
	    .device_id = get_u32(attrs, PTSCHED_A_DEVICE_ID),
	    .turn = get_u64(attrs, PTSCHED_A_TURN),
	    .time_ns = get_u64(attrs, PTSCHED_A_TIME_NS),
	    .budget_ns = (int64_t)get_u64(attrs, PTSCHED_A_BUDGET_NS),
	};
	return 0;
}

void ks_events_close(struct nl_sock *sock)
{
	nl_socket_free(sock);
}
