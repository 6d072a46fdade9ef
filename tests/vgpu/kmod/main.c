// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/vgpu: the virtual GPU's engine behind a character device, whose number
 * is that of the real driver's control device: the two exclude each other.
 *
 * One spinlock protects the whole service; it is taken in process context and
 * by the timer, which runs in softirq context. Memory is allocated before the
 * lock is taken and freed after it is let go.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cdev.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "../../../kmod/compat_hrtimer.h"
#include "../engine/rm.h"
#include "../engine/service.h"

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "How many devices, 1 to 8 (default 1)");

static char *mode = "timesliced";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "timesliced (default) or nonpreemptive");

static unsigned int slice_us = 2048;
module_param(slice_us, uint, 0444);
MODULE_PARM_DESC(slice_us, "Compute time slice in microseconds, 1 to 1000000 (default 2048)");

static unsigned int scale = 1;
module_param(scale, uint, 0444);
MODULE_PARM_DESC(scale, "Multiplies every time, 1 to 1000 (default 1)");

static unsigned int switch_calls = VGPU_UNLIMITED;
module_param(switch_calls, uint, 0444);
MODULE_PARM_DESC(switch_calls, "Refuse to take channels off after so many times (default: never)");

static bool switch_ignored;
module_param(switch_ignored, bool, 0444);
MODULE_PARM_DESC(switch_ignored, "Take channels off in words only (default N)");

static unsigned long memory = VGPU_MEMORY_BYTES;
module_param(memory, ulong, 0444);
MODULE_PARM_DESC(memory, "Bytes of memory that each device has (default 8 GiB)");

enum { OFF, ON };

static unsigned int switch_us[2];
module_param_array(switch_us, uint, NULL, 0444);
MODULE_PARM_DESC(switch_us, "Cost of taking channels off, and of putting back, us (default 0,0)");

static struct vgpu_service service;
static DEFINE_SPINLOCK(lock);
static struct hrtimer timer;

struct vgpu_file {
	struct vgpu_client *client;
	wait_queue_head_t wait;
	fl_owner_t opener;	/* the files of the process that opened */
	bool closed;		/* by it; protected by the lock */
};

static void wake(struct vgpu_client *client)
{
	struct vgpu_file *file = client->private_data;

	wake_up_interruptible(&file->wait);
}

/* After anything that may have changed when the next event falls. */
static void rearm(void)
{
	u64 next;

	lockdep_assert_held(&lock);
	next = vgpu_service_advance(&service, ktime_get_ns());
	if (next != VGPU_NEVER)
		hrtimer_start(&timer, ns_to_ktime(next), HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart on_timer(struct hrtimer *expired)
{
	u64 next;

	spin_lock(&lock);
	next = vgpu_service_advance(&service, ktime_get_ns());
	/* A submission may have armed it again already. */
	if (next != VGPU_NEVER && !hrtimer_is_queued(expired))
		hrtimer_start(expired, ns_to_ktime(next), HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&lock);
	return HRTIMER_NORESTART;
}

static int vgpu_open(struct inode *inode, struct file *filp)
{
	struct vgpu_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	char name[TASK_COMM_LEN];

	if (!file)
		return -ENOMEM;
	file->client = kvzalloc(sizeof(*file->client), GFP_KERNEL_ACCOUNT);
	if (!file->client) {
		kfree(file);
		return -ENOMEM;
	}
	init_waitqueue_head(&file->wait);
	file->opener = current->files;
	file->client->private_data = file;
	get_task_comm(name, current->group_leader);
	vgpu_client_init(file->client, &service, task_tgid_vnr(current), name);
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

/* Takes everything of the client off the devices, for good. */
static void close_client(struct vgpu_file *file)
{
	void *unused;

	do {
		spin_lock_bh(&lock);
		file->closed = true;
		unused = vgpu_client_destroy_any(file->client, ktime_get_ns());
		rearm();
		spin_unlock_bh(&lock);
		kvfree(unused);
	} while (unused);
	wake_up_interruptible(&file->wait);
}

/* The opener's death counts, not that of the last process that inherited the file. */
static int vgpu_flush(struct file *filp, fl_owner_t id)
{
	struct vgpu_file *file = filp->private_data;

	if (id == file->opener)
		close_client(file);
	return 0;
}

static int vgpu_release(struct inode *inode, struct file *filp)
{
	struct vgpu_file *file = filp->private_data;

	close_client(file);
	kvfree(file->client);
	kfree(file);
	return 0;
}

static long create_context(struct vgpu_file *file, void __user *user)
{
	struct vgpu_context_create arg;
	struct vgpu_context *context;
	struct vgpu_record *record;
	int error = -ENOMEM;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	record = kzalloc(sizeof(*record), GFP_KERNEL_ACCOUNT);
	if (context && record) {
		spin_lock_bh(&lock);
		error = file->closed ? -ESHUTDOWN :
			vgpu_client_add_context(file->client, context, &record, &arg,
						ktime_get_ns());
		spin_unlock_bh(&lock);
	}
	kfree(record);
	if (error) {
		kfree(context);
		return error;
	}
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long create_channel(struct vgpu_file *file, void __user *user)
{
	struct vgpu_channel_create arg;
	struct vgpu_chan *chan;
	int error;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	chan = kvzalloc(sizeof(*chan), GFP_KERNEL_ACCOUNT);
	if (!chan)
		return -ENOMEM;
	spin_lock_bh(&lock);
	error = file->closed ? -ESHUTDOWN :
		vgpu_client_add_channel(file->client, chan, &arg, ktime_get_ns());
	spin_unlock_bh(&lock);
	if (error) {
		kvfree(chan);
		return error;
	}
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long destroy(struct vgpu_file *file, void __user *user)
{
	struct vgpu_destroy arg;
	int error = 0;
	void *unused;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.reserved)
		return -EINVAL;
	spin_lock_bh(&lock);
	unused = vgpu_client_destroy(file->client, arg.handle, &error, ktime_get_ns());
	rearm();
	spin_unlock_bh(&lock);
	kvfree(unused);
	return error;
}

static long submit(struct vgpu_file *file, void __user *user)
{
	struct vgpu_work works[8];
	struct vgpu_submit arg;
	int n = 0;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (!arg.count || arg.count > VGPU_CLIENT_ITEMS)
		return -EINVAL;
	arg.accepted = 0;
	while (arg.accepted < arg.count) {
		u32 part = min_t(u32, arg.count - arg.accepted, ARRAY_SIZE(works));
		struct vgpu_work __user *from = u64_to_user_ptr(arg.works);

		n = -EFAULT;
		if (copy_from_user(works, from + arg.accepted, part * sizeof(works[0])))
			break;
		spin_lock_bh(&lock);
		n = file->closed ? -ESHUTDOWN :
		    vgpu_client_submit(file->client, works, part, ktime_get_ns());
		rearm();
		spin_unlock_bh(&lock);
		if (n < 0)
			break;
		arg.accepted += n;
		if (n < part)
			break;
	}
	if (!arg.accepted && n < 0)
		return n;
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long control(struct vgpu_file *file, void __user *user)
{
	struct vgpu_control arg;
	int error;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	spin_lock_bh(&lock);
	error = vgpu_client_control(file->client, &arg, ktime_get_ns());
	rearm();
	spin_unlock_bh(&lock);
	if (error)
		return error;
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long rm_alloc(struct vgpu_file *file, void __user *user)
{
	u64 params[8] = { 0 };
	struct vgpu_rm_object *object;
	struct vgpu_rm_alloc arg;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.params_size > sizeof(params))
		return -EINVAL;
	if (copy_from_user(params, u64_to_user_ptr(arg.params), arg.params_size))
		return -EFAULT;
	object = kzalloc(sizeof(*object), GFP_KERNEL_ACCOUNT);
	if (!object)
		return -ENOMEM;
	spin_lock_bh(&lock);
	if (!file->closed)
		vgpu_rm_alloc(file->client, &arg, params, arg.params_size, &object);
	spin_unlock_bh(&lock);
	kfree(object);
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long rm_free(struct vgpu_file *file, void __user *user)
{
	struct vgpu_rm_object *unused;
	struct vgpu_rm_free arg;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	spin_lock_bh(&lock);
	unused = vgpu_rm_free(file->client, &arg);
	spin_unlock_bh(&lock);
	while (unused) {
		struct vgpu_rm_object *next = unused->next;

		kfree(unused);
		unused = next;
	}
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static void spend_us(unsigned int us)
{
	if (us)
		usleep_range(us * scale, us * scale);
}

/*
 * As on an H200: work comes to a halt half-way through the call that takes it off, and goes on at
 * the end of that back.
 */
static void control_client(struct vgpu_file *file, struct vgpu_rm_control *arg, void *params)
{
	const struct vgpu_rm_disable *channels = params;
	bool switches = arg->command == VGPU_RM_DISABLE_CHANNELS &&
			arg->params_size == sizeof(*channels);
	unsigned int before = 0, after = 0;

	if (switches && channels->disable) {
		before = switch_us[OFF] / 2;
		after = switch_us[OFF] - before;
	} else if (switches) {
		before = switch_us[ON];
	}
	spend_us(before);
	spin_lock_bh(&lock);
	vgpu_rm_control(file->client, arg, params, arg->params_size, ktime_get_ns());
	rearm();
	spin_unlock_bh(&lock);
	spend_us(after);
}

static long rm_control(struct vgpu_file *file, void __user *user)
{
	struct vgpu_rm_control arg;
	void *params;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (arg.params_size > VGPU_RM_MAX_PARAMS)
		return -EINVAL;
	params = memdup_user(u64_to_user_ptr(arg.params), arg.params_size);
	if (IS_ERR(params))
		return PTR_ERR(params);
	control_client(file, &arg, params);
	if (copy_to_user(u64_to_user_ptr(arg.params), params, arg.params_size)) {
		kfree(params);
		return -EFAULT;
	}
	kfree(params);
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long count_memory(struct vgpu_file *file, void __user *user)
{
	struct vgpu_memory arg;
	int error;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	spin_lock_bh(&lock);
	error = file->closed ? -ESHUTDOWN : vgpu_client_memory(file->client, &arg);
	spin_unlock_bh(&lock);
	if (error)
		return error;
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long get_stats(void __user *user)
{
	struct vgpu_owner_stats *owners;
	struct vgpu_device_stats arg;
	u32 room, count;
	int error;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	room = min_t(u32, arg.owner_count, 65536);
	owners = kvcalloc(max_t(u32, room, 1), sizeof(*owners), GFP_KERNEL_ACCOUNT);
	if (!owners)
		return -ENOMEM;
	count = room;
	spin_lock_bh(&lock);
	error = vgpu_service_stats(&service, &arg, owners, &count, ktime_get_ns());
	spin_unlock_bh(&lock);
	arg.owner_count = count;
	if (!error && copy_to_user(u64_to_user_ptr(arg.owners), owners,
				   min(room, count) * sizeof(*owners)))
		error = -EFAULT;
	kvfree(owners);
	if (error)
		return error;
	return copy_to_user(user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static void free_records(struct vgpu_record *record)
{
	while (record) {
		struct vgpu_record *next = record->next;

		kfree(record);
		record = next;
	}
}

static long reset_stats(void)
{
	struct vgpu_record *unused;

	spin_lock_bh(&lock);
	unused = vgpu_service_reset(&service, ktime_get_ns());
	spin_unlock_bh(&lock);
	free_records(unused);
	return 0;
}

static long vgpu_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct vgpu_file *file = filp->private_data;
	void __user *user = (void __user *)arg;
	struct vgpu_info info;

	switch (cmd) {
	case VGPU_IOC_INFO:
		vgpu_service_info(&service, &info);
		return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
	case VGPU_IOC_CONTEXT:
		return create_context(file, user);
	case VGPU_IOC_CHANNEL:
		return create_channel(file, user);
	case VGPU_IOC_DESTROY:
		return destroy(file, user);
	case VGPU_IOC_SUBMIT:
		return submit(file, user);
	case VGPU_IOC_CONTROL:
		return control(file, user);
	case VGPU_RM_ALLOC:
		return rm_alloc(file, user);
	case VGPU_RM_FREE:
		return rm_free(file, user);
	case VGPU_RM_CONTROL:
		return rm_control(file, user);
	case VGPU_IOC_MEMORY:
		return count_memory(file, user);
	case VGPU_IOC_STATS:
		return get_stats(user);
	case VGPU_IOC_RESET_STATS:
		return reset_stats();
	default:
		return -ENOIOCTLCMD;
	}
}

static u32 fetch(struct vgpu_file *file, struct vgpu_completion *to, u32 room, bool *closed)
{
	u32 n;

	spin_lock_bh(&lock);
	n = vgpu_client_fetch(file->client, to, room);
	*closed = file->closed;
	spin_unlock_bh(&lock);
	return n;
}

static bool fetchable(struct vgpu_file *file)
{
	bool result;

	spin_lock_bh(&lock);
	result = file->closed || vgpu_client_has_completion(file->client);
	spin_unlock_bh(&lock);
	return result;
}

static ssize_t vgpu_read(struct file *filp, char __user *buf, size_t size, loff_t *pos)
{
	struct vgpu_file *file = filp->private_data;
	struct vgpu_completion done[16];
	bool closed;
	u32 n;

	if (size < sizeof(done[0]))
		return -EINVAL;
	for (;;) {
		n = fetch(file, done, min(size / sizeof(done[0]), ARRAY_SIZE(done)), &closed);
		if (n || closed)
			break;
		if (filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(file->wait, fetchable(file)))
			return -ERESTARTSYS;
	}
	return copy_to_user(buf, done, n * sizeof(done[0])) ? -EFAULT : n * sizeof(done[0]);
}

static __poll_t vgpu_poll(struct file *filp, poll_table *table)
{
	struct vgpu_file *file = filp->private_data;

	poll_wait(filp, &file->wait, table);
	return fetchable(file) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations vgpu_fops = {
	.owner = THIS_MODULE,
	.open = vgpu_open,
	.flush = vgpu_flush,
	.release = vgpu_release,
	.read = vgpu_read,
	.poll = vgpu_poll,
	.unlocked_ioctl = vgpu_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static const dev_t number = MKDEV(VGPU_RM_MAJOR, VGPU_RM_MINOR);
static struct cdev vgpu_cdev;

static char *node_name(DEVNODE_CONST struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

static struct class vgpu_class = {
	.name = "vgpu",
	.devnode = node_name,
};

static int add_device(void)
{
	struct device *device;
	int error = register_chrdev_region(number, 1, "vgpu");

	if (error) {
		pr_err("device number %u:%u is taken: is the NVIDIA driver loaded?\n",
		       VGPU_RM_MAJOR, VGPU_RM_MINOR);
		return error;
	}
	cdev_init(&vgpu_cdev, &vgpu_fops);
	vgpu_cdev.owner = THIS_MODULE;
	error = cdev_add(&vgpu_cdev, number, 1);
	if (error)
		goto unregister;
	error = class_register(&vgpu_class);
	if (error)
		goto delete;
	device = device_create(&vgpu_class, NULL, number, NULL, "vgpu");
	if (!IS_ERR(device))
		return 0;
	error = PTR_ERR(device);
	class_unregister(&vgpu_class);
delete:
	cdev_del(&vgpu_cdev);
unregister:
	unregister_chrdev_region(number, 1);
	return error;
}

static void remove_device(void)
{
	device_destroy(&vgpu_class, number);
	class_unregister(&vgpu_class);
	cdev_del(&vgpu_cdev);
	unregister_chrdev_region(number, 1);
}

static int check_parameters(struct vgpu_engine_config *config)
{
	*config = vgpu_default_config;
	if (!strcmp(mode, "nonpreemptive")) {
		config->mode = VGPU_NONPREEMPTIVE;
	} else if (strcmp(mode, "timesliced")) {
		pr_err("mode=%s: must be timesliced or nonpreemptive\n", mode);
		return -EINVAL;
	}
	if (!devices || devices > VGPU_MAX_DEVICES) {
		pr_err("devices=%u: must be 1 to %u\n", devices, VGPU_MAX_DEVICES);
		return -EINVAL;
	}
	if (!slice_us || slice_us > 1000000) {
		pr_err("slice_us=%u: must be 1 to 1000000\n", slice_us);
		return -EINVAL;
	}
	if (!scale || scale > 1000) {
		pr_err("scale=%u: must be 1 to 1000\n", scale);
		return -EINVAL;
	}
	if (!memory) {
		pr_err("memory=%lu: must be 1 or more bytes\n", memory);
		return -EINVAL;
	}
	if (switch_us[OFF] > 10000 || switch_us[ON] > 10000) {
		pr_err("switch_us=%u,%u: must be 0 to 10000 each\n", switch_us[OFF], switch_us[ON]);
		return -EINVAL;
	}
	config->slice_us[VGPU_COMPUTE] = slice_us;
	config->scale = scale;
	return 0;
}

static int __init vgpu_init(void)
{
	struct vgpu_engine_config config;
	int error = check_parameters(&config);

	if (error)
		return error;
	vgpu_service_init(&service, devices, &config, wake, ktime_get_ns());
	hrtimer_setup(&timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	service.switch_calls = switch_calls;
	service.switch_ignored = switch_ignored;
	service.memory_bytes = memory;
	return add_device();
}

static void __exit vgpu_exit(void)
{
	remove_device();
	hrtimer_cancel(&timer);
	free_records(service.records);
}

module_init(vgpu_init);
module_exit(vgpu_exit);

MODULE_DESCRIPTION("Virtual GPU for tests");
MODULE_LICENSE("GPL");
