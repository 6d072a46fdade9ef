/* SPDX-License-Identifier: MIT */
/*
 * What programs and the broker ptschedd say to each other.
 *
 * The broker listens on a Unix socket of type SOCK_SEQPACKET at $PTSCHED_SOCKET
 * or PTSCHED_BROKER_SOCKET. A connection is what an open file is to the module:
 * one client, once it is attached. Each message is one packet: the header
 * below, then `length` bytes of payload; a packet whose size is not header plus
 * length ends the connection. Everything is in host byte order.
 *
 *
 * The contract of uapi/linux/ptsched.h
 *
 * cmd is the ioctl's number, the payload the very structure, its size field
 * included. A reply has the same cmd and id and either result 0 and the
 * structure with its outputs (as many bytes as were sent), or a negative errno
 * and no payload. With PTSCHED_BROKER_NO_REPLY in flags nothing is answered, not
 * even a refusal: for RELEASE, REPORT and ACK. A connection's messages are
 * carried out in order, except that an ACQUIRE that has to wait lets later ones
 * pass; replies are matched by id. Every message carries its sender's credentials
 * (SCM_CREDENTIALS, added by the kernel): from another process than the one that
 * attached, all but QUERY are refused with EPERM.
 *
 * ATTACH    The reply carries four descriptors (SCM_RIGHTS), in this order:
 *           PTSCHED_BROKER_FD_PAGE    memfd, opened read-only: struct
 *                                     ptsched_page at offset 0
 *           PTSCHED_BROKER_FD_STATE   the same memfd, writable. The one use of
 *                                     it: before it sends RELEASE, the client's
 *                                     library clears PTSCHED_STATE_TURN in
 *                                     ptsched_page.state, so that nobody in the
 *                                     process sees the turn after its end. The
 *                                     broker never reads the page
 *           PTSCHED_BROKER_FD_POLL    pipe. Readable (one byte) while an event is
 *                                     unacknowledged; hung up when the broker is
 *                                     gone. The client takes the byte out before
 *                                     it sends ACK; the broker puts it back if
 *                                     there are later events than the message says
 *           PTSCHED_BROKER_FD_HANDLE  memfd with a secret, by which this client
 *                                     is named (PTSCHED_ACT_FOR_CLIENT); to hand
 *                                     to whom may act for it, after HAND_OVER
 *           With PTSCHED_ATTACH_NODE, the device's node travels by SCM_RIGHTS and
 *           the structure's node is any number.
 * ACQUIRE   tid is the calling thread. Answered when the turn is granted or
 *           refused; the broker watches the deadline. At most
 *           PTSCHED_BROKER_MAX_CALLS of one client wait, more get ENOBUFS.
 * ACT_FOR   The requester's descriptor travels by SCM_RIGHTS and the structure's
 *           fd is any number that is not negative; with fd -1, no descriptor.
 *
 * PTSCHED_BROKER_CANCEL  Payload: __u64, the id of an ACQUIRE. If that still
 *           waits, it is answered with ECANCELED; if not, nothing happens (its
 *           answer is on its way). Itself it is not answered.
 * PTSCHED_BROKER_CLOSE   No payload, no answer: the client is gone and its turn
 *           given back, whoever else holds the socket. The broker hangs up.
 *
 *
 * What tools see and set: the messages of the netlink family
 *
 * PTSCHED_BROKER_GENL    Payload: struct genlmsghdr (cmd PTSCHED_CMD_*, version
 *           PTSCHED_GENL_VERSION, reserved 0), then attributes as in
 *           linux/netlink.h: struct nlattr and payload, each padded to 4 bytes.
 *           GET_DEVICE, GET_ENTITY, GET_ACCOUNT: one reply with the id of the
 *           request, result 0 and such a payload per device, entity or account, then
 *           one with result 0 and length 0. SET_DEVICE, SET_ENTITY, SET_USER (only
 *           root and the broker's own user, else EPERM), SET_CGROUP: one reply with
 *           result 0 and length 0. With SET_CGROUP the cgroup's directory travels by
 *           SCM_RIGHTS and CGROUP_FD is any number. A refusal has a negative errno
 *           and struct ptsched_broker_refusal as payload.
 * PTSCHED_BROKER_SUBSCRIBE  No payload. Answered with result 0; from then on the
 *           connection receives a PTSCHED_BROKER_EVENT with id 0 for each event,
 *           payload as above with cmd PTSCHED_CMD_EVENT. One with result -ENOBUFS
 *           and no payload says that events were lost here because the reader
 *           was too slow.
 *
 * None of these needs an attached client.
 *
 *
 * Who is not served
 *
 * PTSCHED_BROKER_TURNED_AWAY  From the broker, with id 0, a negative errno and struct
 *           ptsched_broker_refusal: it hangs up at once. EXDEV: the broker is in another
 *           pid namespace and cannot see this process. ENFILE: it has no descriptors left.
 *
 *
 * What the helper does: take a process's channels off a device and put them back
 *
 * Neither of these needs an attached client, either: beside the module, ptschedd
 * serves nothing else. Both are refused with EPERM from another process than the
 * one that connected. What a process has told of is forgotten with its connection
 * or its end, whichever is first.
 *
 * PTSCHED_BROKER_CHANNELS  Payload: struct ptsched_broker_channels and `count`
 *           handles (__u32). Compute channels of one of the driver's clients, all
 *           that it has on one GPU; replaces what was said of them. The control
 *           file on which they were made travels by SCM_RIGHTS, unless count is 0:
 *           there are none any more. EBADF: not the driver's control device.
 *           EINVAL: the driver does not know the client on that file.
 * PTSCHED_BROKER_SWITCH    Payload: struct ptsched_broker_switch. Answered with the
 *           same when it is done. EIO: the driver refused. ENOENT: no channels on
 *           that device. The helper switches off by itself, too, what was to leave
 *           the device at once (PTSCHED_EVENT_PREEMPT) and has not asked for
 *           anything, nor given its turn back, for a while; it puts that on again
 *           when the turn is given back or the process asks. From the first SWITCH
 *           on it knows to which device of the scheduler's that applies.
 * PTSCHED_BROKER_AWAIT_FREED  No payload. Answered with result 0 when no process that has
 *           ended by now has memory on a device on account of the helper's copy of its
 *           control file: the driver frees it when the last copy is closed. After
 *           PTSCHED_BROKER_FREED_WITHIN_NS it is answered with ETIMEDOUT instead.
 */
#ifndef PTSCHED_BROKER_PROTOCOL_H
#define PTSCHED_BROKER_PROTOCOL_H

#include <linux/ptsched.h>
#include <linux/types.h>

#define PTSCHED_BROKER_SOCKET "/run/ptsched/broker.sock"

/* No message, header included, is longer. */
#define PTSCHED_BROKER_MAX_MESSAGE 4096
#define PTSCHED_BROKER_MAX_CALLS 1024

#define PTSCHED_BROKER_NO_REPLY (1U << 0)

#define PTSCHED_BROKER_FREED_WITHIN_NS 2000000000ULL

/* None of these is an ioctl number: their upper half is 0. */
#define PTSCHED_BROKER_CANCEL 1
#define PTSCHED_BROKER_CLOSE 2
#define PTSCHED_BROKER_GENL 3
#define PTSCHED_BROKER_SUBSCRIBE 4
#define PTSCHED_BROKER_EVENT 5
#define PTSCHED_BROKER_CHANNELS 6
#define PTSCHED_BROKER_SWITCH 7
#define PTSCHED_BROKER_TURNED_AWAY 8
#define PTSCHED_BROKER_AWAIT_FREED 9

#define PTSCHED_BROKER_FD_PAGE 0
#define PTSCHED_BROKER_FD_STATE 1
#define PTSCHED_BROKER_FD_POLL 2
#define PTSCHED_BROKER_FD_HANDLE 3
#define PTSCHED_BROKER_NR_FDS 4

/**
 * struct ptsched_broker_header - begins every message
 * @cmd: PTSCHED_IOC_* or PTSCHED_BROKER_*
 * @length: bytes that follow the header
 * @result: replies: 0 or a negative errno; requests: 0
 * @flags: requests: PTSCHED_BROKER_NO_REPLY or 0; replies: 0
 * @id: chosen by the client for a request; the same in its reply
 * @tid: ACQUIRE: the calling thread; else 0
 * @cpu: ACQUIRE: 1 + the CPU that it runs on, 0: not known; else 0
 */
struct ptsched_broker_header {
    __u32 cmd;
    __u32 length;
    __s32 result;
    __u32 flags;
    __u64 id;
    __u32 tid;
    __u32 cpu;
};

/**
 * struct ptsched_broker_refusal - why a PTSCHED_BROKER_GENL, or a process, was refused
 * @attribute: PTSCHED_A_* that is at fault, 0 if none is
 * @text: what is wrong and what would be right; ends with a zero
 */
struct ptsched_broker_refusal {
    __u32 attribute;
    char text[124];
};

/**
 * struct ptsched_broker_channels - begins PTSCHED_BROKER_CHANNELS
 * @client: the driver's handle of its client
 * @subdevice: a handle of that client's, of the GPU on which the channels are
 * @count: handles that follow
 * @pad: 0
 */
struct ptsched_broker_channels {
    __u32 client;
    __u32 subdevice;
    __u32 count;
    __u32 pad;
};

#define PTSCHED_BROKER_MAX_CHANNELS                                                                                    \
    ((PTSCHED_BROKER_MAX_MESSAGE - sizeof(struct ptsched_broker_header) - sizeof(struct ptsched_broker_channels)) / 4)

/**
 * struct ptsched_broker_switch - take the channels on a device off, or put them back
 * @device: PCI address, zero-padded
 * @device_id: the scheduler's number of it
 * @off: 1: off, 0: on
 * @turn: call-backs of turns up to this one are dealt with
 */
struct ptsched_broker_switch {
    char device[PTSCHED_NAME_LEN];
    __u32 device_id;
    __u32 off;
    __u64 turn;
};

#endif /* PTSCHED_BROKER_PROTOCOL_H */
