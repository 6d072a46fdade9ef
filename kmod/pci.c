// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPUs on the PCI bus: everything of the display class, be it VGA, 3D or another
 * kind of controller, that is there at load or comes later. No driver is bound:
 * the vendor's own has the hardware.
 */
#include <linux/device.h>
#include <linux/notifier.h>
#include <linux/pci.h>

#include "core.h"

static bool is_gpu(const struct pci_dev *pdev)
{
	return pdev->class >> 16 == PCI_BASE_CLASS_DISPLAY;
}

static int add(const struct pci_dev *pdev)
{
	struct ptsched_dev *dev;

	if (!is_gpu(pdev))
		return 0;
	dev = ptsched_dev_add(pci_name(pdev), NULL);
	/* Seen by the notifier and by the enumeration. */
	if (dev == ERR_PTR(-EEXIST))
		return 0;
	return PTR_ERR_OR_ZERO(dev);
}

static void remove(const struct pci_dev *pdev)
{
	struct ptsched_dev *dev;

	if (!is_gpu(pdev))
		return;
	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		if (strcmp(dev->name, pci_name(pdev)))
			continue;
		ptsched_dev_remove(dev);
		break;
	}
	mutex_unlock(&ptsched_devices_lock);
}

static int bus_changed(struct notifier_block *nb, unsigned long action, void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);
	int ret;

	switch (action) {
	case BUS_NOTIFY_ADD_DEVICE:
		ret = add(pdev);
		if (ret)
			pr_warn("%s is not scheduled: error %d\n", pci_name(pdev), ret);
		break;
	case BUS_NOTIFY_DEL_DEVICE:
		remove(pdev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = { .notifier_call = bus_changed };

/**
 * ptsched_pci_init - find the GPUs
 *
 * Return: 0 or a negative errno. Devices that were added stay either way.
 */
int ptsched_pci_init(void)
{
	struct pci_dev *pdev = NULL;
	int ret;

	/* First the notifier, so that none is missed in between. */
	ret = bus_register_notifier(&pci_bus_type, &bus_notifier);
	if (ret)
		return ret;
	for_each_pci_dev(pdev) {
		ret = add(pdev);
		if (!ret)
			continue;
		pci_dev_put(pdev);
		bus_unregister_notifier(&pci_bus_type, &bus_notifier);
		return ret;
	}
	return 0;
}

/** ptsched_pci_exit - no longer watch the bus */
void ptsched_pci_exit(void)
{
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
}
