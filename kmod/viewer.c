// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may see which process over netlink. It is what /proc shows under hidepid, for
 * everybody: processes of one's own, unless one has CAP_SYS_PTRACE; and none outside of
 * one's pid namespace. How /proc is mounted is not asked, since it may be mounted in several
 * ways. The rights are those of whoever opened the socket: a privileged program may be
 * made to write to one.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>
#include <net/sock.h>

#include "core.h"

/**
 * ptsched_viewer_init - who asks
 * @viewer: the viewer, to be given to ptsched_viewer_exit()
 * @skb: the request, whose sender is the current process
 */
void ptsched_viewer_init(struct ptsched_viewer *viewer, struct sk_buff *skb)
{
	const struct socket *socket = NETLINK_CB(skb).sk->sk_socket;

	/* One of the kernel's own has no file. */
	viewer->cred = get_cred(socket && socket->file ? socket->file->f_cred : current_cred());
	viewer->pid_ns = get_pid_ns(task_active_pid_ns(current));
	viewer->sees_all = netlink_ns_capable(skb, viewer->pid_ns->user_ns, CAP_SYS_PTRACE);
}

/**
 * ptsched_viewer_exit - undo ptsched_viewer_init()
 * @viewer: the viewer
 */
void ptsched_viewer_exit(struct ptsched_viewer *viewer)
{
	put_pid_ns(viewer->pid_ns);
	put_cred(viewer->cred);
}

/**
 * ptsched_viewer_sees_user - whether all processes of a user may be seen
 * @viewer: who looks
 * @uid: the user
 */
bool ptsched_viewer_sees_user(const struct ptsched_viewer *viewer, kuid_t uid)
{
	return viewer->sees_all || uid_eq(viewer->cred->fsuid, uid);
}

/**
 * ptsched_viewer_sees_account - whether an account may be seen
 * @viewer: who looks
 * @uid: whose it is; INVALID_UID: it is no user's
 */
bool ptsched_viewer_sees_account(const struct ptsched_viewer *viewer, kuid_t uid)
{
	/* Who sees all of another pid namespace does not see all that belongs to an account. */
	return (viewer->sees_all && viewer->pid_ns == &init_pid_ns) ||
	       uid_eq(viewer->cred->fsuid, uid);
}

/**
 * ptsched_viewer_pid - the number of a process, 0 if it may not be seen
 * @viewer: who looks
 * @pid: the process
 * @owner: from ptsched_entity_owner()
 */
u32 ptsched_viewer_pid(const struct ptsched_viewer *viewer, struct pid *pid, kuid_t owner)
{
	if (!ptsched_viewer_sees_user(viewer, owner))
		return 0;
	return pid_nr_ns(pid, viewer->pid_ns);
}

/**
 * ptsched_viewer_uid - a user's number
 * @viewer: who looks
 * @uid: the user
 */
u32 ptsched_viewer_uid(const struct ptsched_viewer *viewer, kuid_t uid)
{
	return from_kuid_munged(viewer->cred->user_ns, uid);
}
