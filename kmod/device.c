// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: their list, their names, their clock. Each has one timer, armed for
 * the instant at which the policy wants to look again, and for none while only
 * a call of a client can change something.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uuid.h>

#include "compat.h"
#include "core.h"
#include "trace.h"

LIST_HEAD(ptsched_devices);
/* D, and writes to dev->policy.params */
DEFINE_MUTEX(ptsched_devices_lock);
/* D: ids are not used again */
static u32 next_id;
/* D */
static u32 nr_devices;
/* D: of these, instances of GPUs that MIG divides */
static u32 nr_instances;

/* Sixteen GPUs have as many. */
#define MOST_INSTANCES	112

/**
 * ptsched_run - let the policy decide and set the timer
 * @dev: the device, locked
 * @now: the time
 *
 * To be called after each change of the policy's objects. ptsched_unlock() does
 * so if dev->changed is set; nobody else need, but who wants the outcome before.
 */
void ptsched_run(struct ptsched_dev *dev, u64 now)
{
	u64 next;

	lockdep_assert_held(&dev->lock);
	if (dev->gone) {
		dev->changed = false;
		return;
	}
	next = ptsp_run(&dev->policy, now);
	if (!list_empty(&dev->asking))
		ptsched_tell_waits(dev);
	if (!list_empty(&dev->late))
		next = min(next, ptsched_announce(dev, now));
	if (dev->front.refused)
		next = min(next, ptsched_group_again(dev, now));
	dev->changed = false;
	if (next == dev->armed_ns)
		return;
	dev->armed_ns = next;
	if (next == PTSP_NEVER)
		/* A callback that waits for the lock meanwhile only looks once more. */
		hrtimer_try_to_cancel(&dev->timer);
	else
		hrtimer_start(&dev->timer, ns_to_ktime(min_t(u64, next, KTIME_MAX)),
			      HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	struct ptsched_dev *dev = container_of(timer, struct ptsched_dev, timer);

	ptsched_lock(dev);
	trace_ptsched_expire(dev);
	dev->armed_ns = PTSP_NEVER;
	dev->changed = true;
	ptsched_unlock(dev);
	return HRTIMER_NORESTART;
}

/* Those that nobody has: who takes a reference has the mutex, or has one already. */
static void forget_instances(void)
{
	struct ptsched_dev *dev, *next;

	lockdep_assert_held(&ptsched_devices_lock);
	list_for_each_entry_safe(dev, next, &ptsched_devices, link)
		if (dev->instance && kref_read(&dev->ref) == 1)
			ptsched_dev_remove(dev);
}

static void forget(struct work_struct *work)
{
	mutex_lock(&ptsched_devices_lock);
	forget_instances();
	mutex_unlock(&ptsched_devices_lock);
}

static DECLARE_WORK(forgetting, forget);

static void dev_free(struct kref *ref)
{
	struct ptsched_dev *dev = container_of(ref, struct ptsched_dev, ref);

	ptsched_accounts_free(dev);
	kfree(dev);
}

/**
 * ptsched_dev_put - drop a reference
 * @dev: the device; the list of devices, clients and entities hold references
 */
void ptsched_dev_put(struct ptsched_dev *dev)
{
	bool instance = dev->instance;

	if (!kref_put(&dev->ref, dev_free) && instance)
		schedule_work(&forgetting);
}

/* A new device in the list; ERR_PTR(-ENOMEM). */
static struct ptsched_dev *dev_insert(const char *name, const char *uuid)
{
	struct ptsp_params params;
	struct ptsched_dev *dev;

	lockdep_assert_held(&ptsched_devices_lock);
	/* Whoever attaches to an instance first has one made. */
	dev = kzalloc(sizeof(*dev), GFP_KERNEL_ACCOUNT);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	strscpy(dev->name, name, sizeof(dev->name));
	if (uuid)
		strscpy(dev->uuid, uuid, sizeof(dev->uuid));
	kref_init(&dev->ref);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->indebted);
	INIT_LIST_HEAD(&dev->unused_cgroups);
	ptsched_tell_init(dev);
	hrtimer_setup(&dev->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	dev->armed_ns = PTSP_NEVER;
	/* Under the mutex, so that a change of the settings reaches every device. */
	params = ptsched_settings();
	ptsp_device_init(&dev->policy, &params, &ptsched_policy_ops, ktime_get_ns());
	dev->id = next_id++;
	nr_devices++;
	list_add_tail(&dev->link, &ptsched_devices);
	return dev;
}

/* NULL: there is none of that name. */
static struct ptsched_dev *dev_named(const char *name)
{
	struct ptsched_dev *dev;

	lockdep_assert_held(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link)
		if (!strcmp(dev->name, name))
			return dev;
	return NULL;
}

/**
 * ptsched_dev_add - a new device
 * @name: PCI address
 * @uuid: UUID, or NULL if it is not known
 *
 * Return: the device, or an ERR_PTR(): -EEXIST if there is one of that name.
 */
struct ptsched_dev *ptsched_dev_add(const char *name, const char *uuid)
{
	struct ptsched_dev *dev;

	mutex_lock(&ptsched_devices_lock);
	dev = dev_named(name) ? ERR_PTR(-EEXIST) : dev_insert(name, uuid);
	mutex_unlock(&ptsched_devices_lock);
	return dev;
}

/* Tells the clients of a device that is no more, process by process. */
static void abandon_clients(struct ptsched_dev *dev)
{
	struct ptsched_client *client;
	struct ptsched_entity *ent;
	u64 id = 0;

	do {
		ptsched_lock(dev);
		/* Looked at without the lock by who waits. */
		WRITE_ONCE(dev->gone, true);
		ent = ptsched_entity_from(dev, id);
		if (ent) {
			id = ent->id + 1;
			list_for_each_entry(client, &ent->members, link) {
				ptsched_turn_refuse(client);
				ptsched_client_show(client);
			}
		}
		ptsched_unlock(dev);
	} while (ent);
}

/**
 * ptsched_dev_remove - a device was taken out of the machine
 * @dev: the device; the caller holds ptsched_devices_lock
 *
 * Its clients run on unscheduled and let the object live until they close.
 */
void ptsched_dev_remove(struct ptsched_dev *dev)
{
	lockdep_assert_held(&ptsched_devices_lock);
	list_del(&dev->link);
	nr_devices--;
	nr_instances -= dev->instance;
	abandon_clients(dev);
	/* Nobody arms it again: ptsched_run() looks at dev->gone. */
	hrtimer_cancel(&dev->timer);
	ptsched_dev_put(dev);
}

/** ptsched_dev_remove_all - the module is unloaded */
void ptsched_dev_remove_all(void)
{
	struct ptsched_dev *dev, *next;

	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry_safe(dev, next, &ptsched_devices, link)
		ptsched_dev_remove(dev);
	mutex_unlock(&ptsched_devices_lock);
}

/** ptsched_dev_exit - nobody has a device any more, nor will have one */
void ptsched_dev_exit(void)
{
	cancel_work_sync(&forgetting);
}

/** ptsched_dev_count - how many devices can be attached to */
u32 ptsched_dev_count(void)
{
	u32 count;

	mutex_lock(&ptsched_devices_lock);
	count = nr_devices;
	mutex_unlock(&ptsched_devices_lock);
	return count;
}

static bool parse_hex(const char **pos, unsigned int min_digits, unsigned int max_digits,
		      char end, u32 *value)
{
	const char *p = *pos;
	unsigned int n;

	*value = 0;
	for (n = 0; n < max_digits && isxdigit(p[n]); n++)
		*value = *value << 4 | hex_to_bin(p[n]);
	if (n < min_digits || p[n] != end)
		return false;
	*pos = p + n + 1;
	return true;
}

/*
 * Brings a PCI address into the form of pci_name(). Accepted are four to eight
 * digits of domain (nvidia-smi prints eight) in either case.
 */
static bool canonical_address(const char *name, char *out, size_t size)
{
	u32 domain, bus, slot, fn;

	if (!parse_hex(&name, 4, 8, ':', &domain) || !parse_hex(&name, 2, 2, ':', &bus) ||
	    !parse_hex(&name, 2, 2, '.', &slot) || !parse_hex(&name, 1, 1, '\0', &fn))
		return false;
	if (slot > 31 || fn > 7)
		return false;
	snprintf(out, size, "%04x:%02x:%02x.%x", domain, bus, slot, fn);
	return true;
}

static bool is_uuid(const char *name)
{
	uuid_t uuid;

	return (!strncasecmp(name, "GPU-", 4) || !strncasecmp(name, "MIG-", 4)) &&
	       strlen(name) == 4 + UUID_STRING_LEN &&
	       !uuid_parse(name + 4, &uuid);
}

/*
 * Instances of a GPU share nothing with one another, and nobody but the programs
 * that use them knows which there are: the first to attach brings it along, and
 * it is forgotten after the last.
 */
static struct ptsched_dev *instance_add(const char *uuid)
{
	struct ptsched_dev *dev;

	if (nr_instances == MOST_INSTANCES)
		/* The work for it may be late. */
		forget_instances();
	if (nr_instances == MOST_INSTANCES || nr_devices == nr_instances)
		return ERR_PTR(-ENODEV);
	dev = dev_insert(uuid, uuid);
	if (IS_ERR(dev))
		return dev;
	dev->instance = true;
	nr_instances++;
	return dev;
}

static struct ptsched_dev *dev_of_uuid(const char *name)
{
	char uuid[PTSCHED_NAME_LEN];
	struct ptsched_dev *dev;
	unsigned int i;

	list_for_each_entry(dev, &ptsched_devices, link)
		if (!strcasecmp(dev->uuid, name))
			return dev;
	if (strncasecmp(name, "MIG-", 4))
		return ERR_PTR(-ENODEV);
	strscpy(uuid, name, sizeof(uuid));
	for (i = 0; uuid[i]; i++)
		uuid[i] = i < 4 ? toupper(uuid[i]) : tolower(uuid[i]);
	return instance_add(uuid);
}

/**
 * ptsched_dev_find - look a device up
 * @name: PCI address or UUID
 *
 * An instance of a GPU that MIG divides need not be known before.
 *
 * Return: the device with a reference, ERR_PTR(-EINVAL) if @name is neither an
 * address nor a UUID, ERR_PTR(-ENODEV) if there is no such device.
 */
struct ptsched_dev *ptsched_dev_find(const char *name)
{
	char address[PTSCHED_NAME_LEN];
	bool by_uuid = is_uuid(name);
	struct ptsched_dev *dev;

	if (!by_uuid && !canonical_address(name, address, sizeof(address)))
		return ERR_PTR(-EINVAL);
	mutex_lock(&ptsched_devices_lock);
	dev = by_uuid ? dev_of_uuid(name) : dev_named(address);
	if (!dev)
		dev = ERR_PTR(-ENODEV);
	else if (!IS_ERR(dev))
		kref_get(&dev->ref);
	mutex_unlock(&ptsched_devices_lock);
	return dev;
}

/**
 * ptsched_add_test_devices - devices for tests, without hardware
 * @count: how many
 *
 * Return: 0 or a negative errno; what was added before an error stays.
 */
int ptsched_add_test_devices(unsigned int count)
{
	char name[PTSCHED_NAME_LEN], uuid[PTSCHED_NAME_LEN];
	struct ptsched_dev *dev;
	unsigned int i;

	for (i = 1; i <= count; i++) {
		snprintf(name, sizeof(name), "ffff:%02x:00.0", i);
		snprintf(uuid, sizeof(uuid), "GPU-00000000-0000-0000-0000-%012x", i);
		dev = ptsched_dev_add(name, uuid);
		if (IS_ERR(dev))
			return PTR_ERR(dev);
	}
	return 0;
}

/**
 * ptsched_dev_set_params - change the settings of a device
 * @dev: the device
 * @params: settings that ptsp_check_params() accepted
 */
void ptsched_dev_set_params(struct ptsched_dev *dev, const struct ptsp_params *params)
{
	u64 now = ptsched_lock(dev);

	ptsp_set_params(&dev->policy, params, now);
	ptsched_event(dev, NULL, PTSCHED_EVENT_SETTINGS);
	dev->changed = true;
	ptsched_unlock(dev);
}
