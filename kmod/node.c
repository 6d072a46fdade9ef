// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may take turns on a device: who can open its node. The administrator says which
 * that is (PTSCHED_A_NODE), since the vendor's driver tells the kernel of no relation
 * between the two. Until then nobody is asked for anything.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>

#include "core.h"

/* The node that a descriptor is open on, for writing; 0: it is something else. -EBADF. */
static int look_at(int fd, u64 *node)
{
	struct file *file = fget(fd);
	const struct inode *inode;

	*node = 0;
	if (!file)
		return -EBADF;
	inode = file_inode(file);
	if (S_ISCHR(inode->i_mode) && file->f_mode & FMODE_WRITE)
		*node = PTSCHED_NODE(imajor(inode), iminor(inode));
	fput(file);
	return 0;
}

/* Of an instance it is not known which GPU it is a part of: the node of any will do. */
static bool suffices(const struct ptsched_dev *dev, u64 node)
{
	const struct ptsched_dev *other;
	bool demanded = false, fits = false;

	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(other, &ptsched_devices, link) {
		if (!other->node || (other != dev && !dev->instance))
			continue;
		demanded = true;
		fits |= other->node == node;
	}
	mutex_unlock(&ptsched_devices_lock);
	return !demanded || fits;
}

/**
 * ptsched_node_check - whether the caller may attach to a device
 * @dev: the device
 * @arg: checked arguments
 *
 * Return: 0, -EACCES or -EBADF.
 */
int ptsched_node_check(const struct ptsched_dev *dev, const struct ptsched_attach *arg)
{
	u64 node = 0;
	int ret;

	if (arg->flags & PTSCHED_ATTACH_NODE) {
		ret = look_at(arg->node, &node);
		if (ret)
			return ret;
	}
	return suffices(dev, node) || capable(CAP_SYS_NICE) ? 0 : -EACCES;
}
