/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the module is built for. The rest of
 * the code is written for the newest. Kbuild looks for what a kernel has in its
 * headers: a number would not know what was backported.
 */
#ifndef PTSCHED_COMPAT_H
#define PTSCHED_COMPAT_H

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/genetlink.h>

#ifdef HAVE_HEX_TO_BIN
#include <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

#include "compat_hrtimer.h"

#ifndef HAVE_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

#ifndef SLAB_NO_MERGE
static inline void ptsched_construct_nothing(void *object)
{
}
#endif

/* Never merged with others, so that its counts are ours alone. */
static inline struct kmem_cache *ptsched_cache_create(const char *name, unsigned int size)
{
#ifdef SLAB_NO_MERGE
	return kmem_cache_create(name, size, 0, SLAB_ACCOUNT | SLAB_NO_MERGE, NULL);
#else
	/* Neither are those with a constructor. */
	return kmem_cache_create(name, size, 0, SLAB_ACCOUNT, ptsched_construct_nothing);
#endif
}

static inline struct nlattr **ptsched_dump_attrs(struct netlink_callback *cb)
{
#ifdef HAVE_GENL_INFO_DUMP
	return genl_dumpit_info(cb)->info.attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* What inode_permission() wants to know of how a file was opened. */
#ifdef HAVE_FILE_MNT_IDMAP
#define ptsched_file_idmap(file)	file_mnt_idmap(file)
#else
#define ptsched_file_idmap(file)	file_mnt_user_ns(file)
#endif

/*
 * What pidfd_pid() does, where it is not exported. How a pidfd keeps its process is the
 * kernel's own affair, and no header tells: it is taken from the sources of each version
 * up to the one that Kbuild names. To build for a later one, compare its pidfd_pid() with this.
 */
#if !defined(HAVE_PIDFD_PID_EXPORTED) && !defined(HAVE_KNOWN_PIDFDS)
#error "pidfd_pid() is not exported, and compat.h does not know how this kernel does it"
#endif

/* The process of a pidfd, without a reference; NULL if @file is something else. */
static inline struct pid *ptsched_pidfd_pid(const struct file *file)
{
#if defined(HAVE_PIDFD_PID_EXPORTED)
	struct pid *pid = pidfd_pid(file);

	return IS_ERR(pid) ? NULL : pid;
#elif defined(PID_FS_MAGIC)
	const struct inode *inode = file_inode(file);

	/* Of this file system's inodes only the root is a folder, and all others are pidfds. */
	if (inode->i_sb->s_magic != PID_FS_MAGIC || S_ISDIR(inode->i_mode))
		return NULL;
	return inode->i_private;
#else
	/* No program can choose the name of an anonymous inode. */
	if (file_inode(file)->i_sb->s_magic != ANON_INODE_FS_MAGIC ||
	    strcmp(file->f_path.dentry->d_name.name, "[pidfd]"))
		return NULL;
	return file->private_data;
#endif
}

#endif /* PTSCHED_COMPAT_H */
