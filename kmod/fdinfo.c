// SPDX-License-Identifier: GPL-2.0-only
/*
 * What /proc/PID/fdinfo tells of a client, in the words of drivers for GPUs: see
 * Documentation/gpu/drm-usage-stats.rst of the kernel. A process has one GPU time on a
 * device, however many clients: they all have the number of the entity, by which a reader
 * knows that it is to be counted once.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>

#include "core.h"

/**
 * ptsched_show_fdinfo - write the lines of a client
 * @m: where to
 * @file: the client's file
 *
 * Of one that is not attached, or closed by its owner, only what it is.
 */
void ptsched_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct ptsched_client *client = file->private_data;
	/* Pairs with attach(). */
	struct ptsched_dev *dev = smp_load_acquire(&client->dev);
	u64 id = 0, gpu_ns = 0;

	seq_printf(m, "drm-driver:\t%s\n", KBUILD_MODNAME);
	if (!dev)
		return;
	ptsched_lock(dev);
	if (client->self) {
		id = client->self->id;
		gpu_ns = client->self->policy.stats.gpu_ns;
	}
	ptsched_unlock(dev);
	if (!id)
		return;
	/* Of an instance it is not known on which GPU it is. */
	if (!dev->instance)
		seq_printf(m, "drm-pdev:\t%s\n", dev->name);
	seq_printf(m, "drm-client-id:\t%llu\n", id);
	seq_printf(m, "drm-engine-compute:\t%llu ns\n", gpu_ns);
}
