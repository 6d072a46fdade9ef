// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptsched - GPU time, accounted per process and given out by nice. Loading and
 * unloading; core.h explains the objects.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "core.h"

struct workqueue_struct *ptsched_wq;

/** ptsched_end_devices - nobody has a client; what is left are works that tell, reap and forget */
void ptsched_end_devices(void)
{
	ptsched_dev_remove_all();
	ptsched_entity_await_end();
	flush_workqueue(ptsched_wq);
	ptsched_dev_exit();
}

/** ptsched_begin - what devices and clients need; 0 or -ENOMEM */
int ptsched_begin(void)
{
	int ret;

	ptsched_wq = alloc_workqueue("ptsched", WQ_HIGHPRI | WQ_UNBOUND, 0);
	if (!ptsched_wq)
		return -ENOMEM;
	ret = ptsched_entity_init();
	if (ret)
		goto err_entities;
	ret = ptsched_accounts_init();
	if (ret)
		goto err_accounts;
	ret = ptsched_clients_init();
	if (ret)
		goto err_clients;
	return 0;

err_clients:
	ptsched_accounts_exit();
err_accounts:
	ptsched_entity_exit();
err_entities:
	destroy_workqueue(ptsched_wq);
	ptsched_wq = NULL;
	return ret;
}

/** ptsched_end - undo ptsched_begin(), after ptsched_end_devices() */
void ptsched_end(void)
{
	ptsched_clients_exit();
	ptsched_accounts_exit();
	ptsched_entity_exit();
	destroy_workqueue(ptsched_wq);
	ptsched_wq = NULL;
}

static int __init ptsched_init(void)
{
	int ret;

	ret = ptsched_begin();
	if (ret)
		return ret;
	/* Before there are devices: their events are sent from the first one on. */
	ret = ptsched_listeners_init();
	if (ret)
		goto err_listeners;
	ret = ptsched_netlink_init();
	if (ret)
		goto err_netlink;
	ret = ptsched_add_test_devices(ptsched_test_devices());
	if (ret)
		goto err_devices;
	ret = ptsched_pci_init();
	if (ret)
		goto err_devices;
	ret = ptsched_file_init();
	if (ret)
		goto err_file;
	pr_info("%u devices\n", ptsched_dev_count());
	return 0;

err_file:
	ptsched_pci_exit();
err_devices:
	ptsched_end_devices();
	ptsched_netlink_exit();
err_netlink:
	ptsched_listeners_exit();
err_listeners:
	ptsched_end();
	return ret;
}

static void __exit ptsched_exit(void)
{
	ptsched_file_exit();
	ptsched_pci_exit();
	ptsched_end_devices();
	ptsched_netlink_exit();
	ptsched_listeners_exit();
	ptsched_end();
}

module_init(ptsched_init);
module_exit(ptsched_exit);

MODULE_AUTHOR("The ptsched authors");
MODULE_DESCRIPTION("GPU time, accounted per process and given out by nice");
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY(PTSCHED_GENL_NAME);
