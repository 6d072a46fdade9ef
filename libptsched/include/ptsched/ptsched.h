/* SPDX-License-Identifier: MIT */
/**
 * @file
 * libptsched: put a program's GPU work under ptsched.
 *
 * A client stands for the calling process on one device. Where the scheduler is
 * the module, the calls are ioctls on /dev/ptsched; where it is the broker,
 * messages on its Unix socket. The contract is uapi/linux/ptsched.h either way.
 *
 * Functions return 0 or a negative errno and leave errno alone. All may be
 * called from several threads at once, except that no call may run beside or
 * after ptsched_close() on the same client. A client does not survive fork():
 * in the child every call answers -EPERM; close it there and open a new one.
 * Once the scheduler is gone they answer -EPIPE (the broker ended), -EHOSTDOWN
 * (the broker has stopped answering) or -ENODEV (the module's device was removed).
 * ptsched_strerror() has words for these.
 *
 * No call waits for a broker that does not answer for longer than some seconds. While
 * ptsched_acquire() waits for a turn, which may take long, a thread of the library asks
 * the broker every second whether it is still there.
 *
 * Descriptors are close-on-exec and have high numbers. A program that closes all that it
 * does not know closes these, too: then calls answer -EBADFD, and what has their numbers
 * by then is left alone. Relative paths in the environment are those of the folder in
 * which the program was started.
 *
 * No function is a cancellation point: a thread that is cancelled while it
 * waits for the turn gets that, and ends at its next cancellation point. A
 * signal (-EINTR) or a deadline ends the wait sooner.
 */
#ifndef PTSCHED_PTSCHED_H
#define PTSCHED_PTSCHED_H

#include <linux/ptsched.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTSCHED_API __attribute__((visibility("default")))

struct ptsched_client;

enum ptsched_backend {
    PTSCHED_BACKEND_AUTO = 0, /* the module, else the broker */
    PTSCHED_BACKEND_MODULE = 1,
    PTSCHED_BACKEND_BROKER = 2,
};

/* What ptsched_release() and ptsched_report() tell; see the uapi header. */
struct ptsched_usage {
    uint64_t gpu_ns;
    uint64_t handover_ns;
    uint32_t submissions;
};

/**
 * Attach to @device, a PCI address ("0000:17:00.0") or a UUID ("GPU-..."). An instance
 * of a GPU that MIG divides has its own ("MIG-..."), and is a device by itself.
 * The module is looked for at $PTSCHED_DEVICE_NODE or /dev/ptsched, the broker
 * at $PTSCHED_SOCKET or /run/ptsched/broker.sock. A UUID that the module does
 * not know is looked up in /proc/driver/nvidia/gpus.
 *
 * @mechanism is one of PTSCHED_MECHANISM_*. On success *@client is the
 * caller's, to be given to ptsched_close(). -ENOENT: no scheduler here; -ENODEV:
 * the scheduler has no such device; -EPROTO: version mismatch; -EINVAL: bad name;
 * -EHOSTDOWN: the broker does not answer; -EXDEV: the broker is in another pid
 * namespace and cannot see this process; -ENFILE: it has no descriptors left;
 * -EMFILE: this process has none, or PTSCHED_CLIENTS_MAX clients on the device;
 * -EACCES: the scheduler may not be opened, or asks for the device's node, of which none in /dev
 * (nvidia0 and so on) can be opened; -ENAMETOOLONG: $PTSCHED_SOCKET has more than 107 bytes. Blocks
 * for one round trip, or two.
 */
PTSCHED_API int ptsched_open(const char *device, unsigned int mechanism, enum ptsched_backend backend,
                             struct ptsched_client **client);

/** Give back the turn, if held, and free the client. NULL is allowed. */
PTSCHED_API void ptsched_close(struct ptsched_client *client);

/** Which scheduler answered: PTSCHED_BACKEND_MODULE or PTSCHED_BACKEND_BROKER. */
PTSCHED_API enum ptsched_backend ptsched_client_backend(const struct ptsched_client *client);

/** Version and features of the scheduler behind @client. Blocks for one round trip. */
PTSCHED_API int ptsched_query(struct ptsched_client *client, struct ptsched_query *query);

/** The scheduler's number of the device and of the entity. Either pointer may be NULL. */
PTSCHED_API int ptsched_identity(const struct ptsched_client *client, uint32_t *device_id, uint64_t *entity);

/**
 * Wait for the turn until @deadline_ns (CLOCK_MONOTONIC; PTSCHED_NEVER: for
 * ever). @flags: 0 or PTSCHED_ACQUIRE_TRY, and PTSCHED_ACQUIRE_ABOVE, which a
 * scheduler that does not know it ignores. *@result, if not NULL, receives the
 * outputs of struct ptsched_acquire. Blocks; restarted after signals unless the
 * handler was installed without SA_RESTART (then -EINTR). -ETIMEDOUT, -EAGAIN
 * (TRY). -EPIPE, -EHOSTDOWN: the scheduler is gone, the page's state is
 * PTSCHED_STATE_DEAD; the program may run on unscheduled.
 */
PTSCHED_API int ptsched_acquire(struct ptsched_client *client, uint64_t deadline_ns, unsigned int flags,
                                struct ptsched_acquire *result);

/**
 * Give back the turn after all work has left the device, or has been taken off it. @usage: since the last report; NULL:
 * nothing. Does not block. -EPERM: the client does not hold the turn.
 */
PTSCHED_API int ptsched_release(struct ptsched_client *client, const struct ptsched_usage *usage);

/** Tell of use since the last report while the turn is kept. Does not block. -EPERM: as above. */
PTSCHED_API int ptsched_report(struct ptsched_client *client, const struct ptsched_usage *usage);

/**
 * Acknowledge the events up to @events (ptsched_page.events). @drain_ns: when called back and no longer submitting, how
 * long the work in flight will take; 0: not known. Does not block.
 */
PTSCHED_API int ptsched_ack(struct ptsched_client *client, uint32_t events, uint64_t drain_ns);

/**
 * Take turns for another process from now on, by its weight and at its cost; see struct ptsched_act_for. @kind is one
 * of PTSCHED_ACT_FOR_*, @fd stays the caller's; -1: for oneself again. Blocks for one round trip. -EBUSY: the client
 * holds or waits for the turn. -EPERM: the caller may not. -ESRCH: that process is gone. -EBADF, -EINVAL: @fd is no
 * such descriptor. -EMFILE: that process has PTSCHED_CLIENTS_MAX clients.
 */
PTSCHED_API int ptsched_act_for(struct ptsched_client *client, unsigned int kind, int fd);

/**
 * Tell how decisions are enforced from now on (PTSCHED_MECHANISM_*), where that
 * turned out after ptsched_open(); see struct ptsched_mechanism. Blocks for one
 * round trip. -EINVAL: there is no such mechanism.
 */
PTSCHED_API int ptsched_set_mechanism(struct ptsched_client *client, unsigned int mechanism);

/**
 * Says that the process is one of several that wait for each other, on this device
 * and others: those of the user's that give the same @name are to have their turns
 * together; see struct ptsched_group. NULL or an empty name: it is in no group any
 * more. Blocks for one round trip. -ENAMETOOLONG: @name is longer than
 * PTSCHED_NAME_LEN - 1 bytes. -EOPNOTSUPP: the scheduler knows no groups. -ENOSPC:
 * the group has PTSCHED_GROUP_MAX members.
 */
PTSCHED_API int ptsched_set_group(struct ptsched_client *client, const char *name);

/**
 * A descriptor that polls readable (POLLIN) while an event is unacknowledged and
 * POLLHUP when the scheduler is gone. Owned by the client. -1: the program has closed it.
 */
PTSCHED_API int ptsched_poll_fd(const struct ptsched_client *client);

/**
 * Let others act for this process (PTSCHED_ACT_FOR_CLIENT), at its cost and with its weight, until the client is
 * closed. Returns the descriptor to send to whom may (SCM_RIGHTS), owned by the client, or a negative errno. A child
 * that is forked later has it as well, until it calls execve(). Blocks for one round trip. -EBADFD: the program has
 * closed it.
 */
PTSCHED_API int ptsched_hand_over(struct ptsched_client *client);

/** The read-only page; valid until ptsched_close(), never NULL. */
PTSCHED_API const struct ptsched_page *ptsched_client_page(const struct ptsched_client *client);

/** The page's state word, with acquire ordering: one load. */
static inline uint32_t ptsched_state(const struct ptsched_page *page)
{
    return __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
}

/**
 * What a negative errno of ptsched_open(), or of a client whose scheduler is gone, means for the user: the end of a
 * sentence that begins with "unscheduled, because". Never NULL; constant, or strerror()'s.
 */
PTSCHED_API const char *ptsched_strerror(int error);

/** The kernel's weight of @nice (-20 to 19; clamped), nice 0 being 1024. */
PTSCHED_API uint32_t ptsched_nice_to_weight(int nice);

#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_PTSCHED_H */
