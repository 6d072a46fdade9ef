// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ptsched: what a program calls. Arguments are checked here, against the
 * sentences of uapi/linux/ptsched.h; what they mean is done elsewhere.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "core.h"

/* Every size that a structure has had; version 1.0 knows the first. */
#define QUERY_SIZE_VER0		32
#define ATTACH_SIZE_VER0	72
#define ATTACH_SIZE_VER1	80
#define ACQUIRE_SIZE_VER0	40
#define RELEASE_SIZE_VER0	24
#define REPORT_SIZE_VER0	16
#define ACK_SIZE_VER0		16
#define ACT_FOR_SIZE_VER0	16
#define MECHANISM_SIZE_VER0	8
#define HAND_OVER_SIZE_VER0	8
#define GROUP_SIZE_VER0		56
#define PAGE_SIZE_VER0		72

#define FEATURES (PTSCHED_FEATURE_PAGE | PTSCHED_FEATURE_ACT_FOR |	\
		  PTSCHED_FEATURE_NETLINK | PTSCHED_FEATURE_ABOVE | PTSCHED_FEATURE_GROUP)

union argument {
	__u32 size;
	struct ptsched_query query;
	struct ptsched_attach attach;
	struct ptsched_acquire acquire;
	struct ptsched_release release;
	struct ptsched_report report;
	struct ptsched_ack ack;
	struct ptsched_act_for act_for;
	struct ptsched_mechanism mechanism;
	struct ptsched_hand_over hand_over;
	struct ptsched_group group;
};

/* Ends within the field, and nothing but zeros behind. */
static bool is_name(const char name[PTSCHED_NAME_LEN])
{
	return !name[PTSCHED_NAME_LEN - 1] &&
	       !memchr_inv(name + strlen(name), 0, PTSCHED_NAME_LEN - strlen(name));
}

static int do_query(struct ptsched_client *client, union argument *arg)
{
	if (arg->query.flags)
		return -EINVAL;
	arg->query.version_major = PTSCHED_VERSION_MAJOR;
	arg->query.version_minor = PTSCHED_VERSION_MINOR;
	arg->query.features = FEATURES;
	arg->query.nr_devices = ptsched_dev_count();
	arg->query.page_size = PAGE_SIZE;
	return 0;
}

static int do_attach(struct ptsched_client *client, union argument *arg)
{
	if (arg->attach.flags & ~PTSCHED_ATTACH_NODE || arg->attach.pad ||
	    arg->attach.mechanism > PTSCHED_MECHANISM_PREEMPT)
		return -EINVAL;
	if (!(arg->attach.flags & PTSCHED_ATTACH_NODE) && arg->attach.node)
		return -EINVAL;
	if (!is_name(arg->attach.device))
		return -EINVAL;
	return ptsched_client_attach(client, &arg->attach);
}

static int do_acquire(struct ptsched_client *client, union argument *arg)
{
	if (arg->acquire.flags & ~(PTSCHED_ACQUIRE_TRY | PTSCHED_ACQUIRE_ABOVE))
		return -EINVAL;
	return ptsched_turn_acquire(client, &arg->acquire);
}

static int do_release(struct ptsched_client *client, union argument *arg)
{
	return ptsched_turn_release(client, &arg->release);
}

static int do_report(struct ptsched_client *client, union argument *arg)
{
	return ptsched_client_report(client, &arg->report);
}

static int do_ack(struct ptsched_client *client, union argument *arg)
{
	return ptsched_client_ack(client, &arg->ack);
}

static const struct file_operations ptsched_fops;

/* The client that a file is, if it is one on the same device. */
static struct ptsched_client *client_of(const struct ptsched_client *client,
					const struct file *file)
{
	struct ptsched_client *other = file->private_data;

	/* Pairs with attach(). */
	if (file->f_op != &ptsched_fops || smp_load_acquire(&other->dev) != client->dev)
		return ERR_PTR(-EINVAL);
	return other;
}

static int act_for_client(struct ptsched_client *client, const struct file *file)
{
	struct ptsched_client *giver = client_of(client, file);

	return IS_ERR(giver) ? PTR_ERR(giver) :
	       ptsched_client_act_for(client, giver->owner, giver);
}

static int act_for_process(struct ptsched_client *client, const struct file *file)
{
	struct pid *pid = ptsched_pidfd_pid(file);

	return pid ? ptsched_client_act_for(client, pid, NULL) : -EINVAL;
}

static int do_act_for(struct ptsched_client *client, union argument *arg)
{
	struct file *file;
	int ret;

	if (arg->act_for.kind > PTSCHED_ACT_FOR_CLIENT || arg->act_for.pad)
		return -EINVAL;
	if (arg->act_for.fd == -1)
		return ptsched_client_act_for(client, NULL, NULL);
	if (arg->act_for.fd < 0)
		return -EBADF;
	file = fget(arg->act_for.fd);
	if (!file)
		return -EBADF;
	/* The file keeps what it stands for. */
	ret = arg->act_for.kind == PTSCHED_ACT_FOR_CLIENT ? act_for_client(client, file) :
							    act_for_process(client, file);
	fput(file);
	return ret;
}

static int do_mechanism(struct ptsched_client *client, union argument *arg)
{
	if (arg->mechanism.mechanism > PTSCHED_MECHANISM_PREEMPT)
		return -EINVAL;
	return ptsched_client_mechanism(client, arg->mechanism.mechanism);
}

static int do_hand_over(struct ptsched_client *client, union argument *arg)
{
	return arg->hand_over.flags ? -EINVAL : ptsched_client_hand_over(client);
}

static int do_group(struct ptsched_client *client, union argument *arg)
{
	if (arg->group.flags || !is_name(arg->group.name))
		return -EINVAL;
	return ptsched_group_set(client, arg->group.name);
}

struct command {
	unsigned int code;
	int (*run)(struct ptsched_client *client, union argument *arg);
	u32 size;	/* of the structure as it is known here */
	u32 size_ver0;	/* the least that a caller may pass */
	bool anybody;	/* not only the owner of an attached client */
};

static const struct command commands[] = {
	{ PTSCHED_IOC_QUERY, do_query, sizeof(struct ptsched_query), QUERY_SIZE_VER0, true },
	{ PTSCHED_IOC_ATTACH, do_attach, sizeof(struct ptsched_attach), ATTACH_SIZE_VER0, true },
	{ PTSCHED_IOC_ACQUIRE, do_acquire, sizeof(struct ptsched_acquire), ACQUIRE_SIZE_VER0 },
	{ PTSCHED_IOC_RELEASE, do_release, sizeof(struct ptsched_release), RELEASE_SIZE_VER0 },
	{ PTSCHED_IOC_REPORT, do_report, sizeof(struct ptsched_report), REPORT_SIZE_VER0 },
	{ PTSCHED_IOC_ACK, do_ack, sizeof(struct ptsched_ack), ACK_SIZE_VER0 },
	{ PTSCHED_IOC_ACT_FOR, do_act_for, sizeof(struct ptsched_act_for), ACT_FOR_SIZE_VER0 },
	{ PTSCHED_IOC_MECHANISM, do_mechanism, sizeof(struct ptsched_mechanism),
	  MECHANISM_SIZE_VER0 },
	{ PTSCHED_IOC_HAND_OVER, do_hand_over, sizeof(struct ptsched_hand_over),
	  HAND_OVER_SIZE_VER0 },
	{ PTSCHED_IOC_GROUP, do_group, sizeof(struct ptsched_group), GROUP_SIZE_VER0 },
};

/* The size within the code is that of the caller's header, and may be another. */
static const struct command *find_command(unsigned int code)
{
	const unsigned int size_bits = _IOC_SIZEMASK << _IOC_SIZESHIFT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!((commands[i].code ^ code) & ~size_bits))
			return &commands[i];
	return NULL;
}

static int check_caller(struct ptsched_client *client)
{
	/* Pairs with attach(): the owner is known once the device is. */
	if (!smp_load_acquire(&client->dev))
		return -ENOTCONN;
	return client->owner == task_tgid(current) ? 0 : -EPERM;
}

/* Whether @size bytes at @to can be written, in which @arg is left as it is. */
static bool is_writable(void __user *to, const union argument *arg, size_t size)
{
	size_t last = size - sizeof(u32);

	return !put_user(*(const u32 *)arg, (u32 __user *)to) &&
	       !put_user(*(const u32 *)((const u8 *)arg + last), (u32 __user *)(to + last));
}

static long ptsched_ioctl(struct file *file, unsigned int code, unsigned long user)
{
	const struct command *command = find_command(code);
	struct ptsched_client *client = file->private_data;
	void __user *from = (void __user *)user;
	union argument arg;
	__u32 size;
	int ret;

	if (!command)
		return -ENOTTY;
	if (get_user(size, (__u32 __user *)from))
		return -EFAULT;
	if (size < command->size_ver0)
		return -EINVAL;
	/* No version of a structure is that long; its tail is not worth reading. */
	if (size > PAGE_SIZE)
		return -E2BIG;
	/* Read again with the rest, so that it may have changed; @size counts. */
	ret = copy_struct_from_user(&arg, command->size, from, size);
	if (ret)
		return ret;
	if (!command->anybody) {
		ret = check_caller(client);
		if (ret)
			return ret;
	}
	/* The caller's size stays as it was. */
	arg.size = size;
	size = min(size, command->size);
	/* Before something is done of which the caller could not be told. */
	if (_IOC_DIR(code) & _IOC_READ && !is_writable(from, &arg, size))
		return -EFAULT;
	ret = command->run(client, &arg);
	if (ret || !(_IOC_DIR(code) & _IOC_READ))
		return ret;
	return copy_to_user(from, &arg, size) ? -EFAULT : 0;
}

static int ptsched_open(struct inode *inode, struct file *file)
{
	struct ptsched_client *client = ptsched_client_new();

	if (!client)
		return -ENOMEM;
	file->private_data = client;
	return stream_open(inode, file);
}

static int ptsched_flush(struct file *file, fl_owner_t id)
{
	ptsched_client_flush(file->private_data);
	return 0;
}

static int ptsched_release(struct inode *inode, struct file *file)
{
	ptsched_client_free(file->private_data);
	return 0;
}

static __poll_t ptsched_poll(struct file *file, poll_table *wait)
{
	struct ptsched_client *client = file->private_data;
	const struct ptsched_page *page = client->shared;
	__poll_t mask = 0;

	poll_wait(file, &client->poll, wait);
	/* Pairs with ptsched_poll_wake(). */
	smp_mb();
	if (READ_ONCE(page->events) != READ_ONCE(client->acked))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(page->state) & PTSCHED_STATE_CALLBACK)
		mask |= EPOLLPRI;
	if (READ_ONCE(client->closed) || READ_ONCE(page->state) & PTSCHED_STATE_DEAD)
		mask |= EPOLLHUP;
	return mask;
}

static int ptsched_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ptsched_client *client = file->private_data;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	if (vma->vm_pgoff != PTSCHED_PAGE_OFFSET >> PAGE_SHIFT ||
	    vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	/* VM_IO, so that madvise() cannot have it inherited all the same. */
	vm_flags_mod(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND,
		     VM_MAYWRITE | VM_EXEC | VM_MAYEXEC);
	return vm_insert_page(vma, vma->vm_start, virt_to_page(client->shared));
}

static const struct file_operations ptsched_fops = {
	.owner = THIS_MODULE,
	.open = ptsched_open,
	.flush = ptsched_flush,
	.release = ptsched_release,
	.poll = ptsched_poll,
	.mmap = ptsched_mmap,
	.unlocked_ioctl = ptsched_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = ptsched_show_fdinfo,
};

static struct miscdevice ptsched_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = PTSCHED_NODE_NAME,
	.fops = &ptsched_fops,
	.mode = 0666,
};

static void check_layout(void)
{
	BUILD_BUG_ON(offsetofend(struct ptsched_query, page_size) != QUERY_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_attach, entity) != ATTACH_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_attach, pad) != ATTACH_SIZE_VER1);
	BUILD_BUG_ON(offsetofend(struct ptsched_acquire, waited_ns) != ACQUIRE_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_release, handover_ns) != RELEASE_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_report, gpu_ns) != REPORT_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_ack, drain_ns) != ACK_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_act_for, pad) != ACT_FOR_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_mechanism, mechanism) != MECHANISM_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_hand_over, flags) != HAND_OVER_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_group, name) != GROUP_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_page, asker_cpu) != PAGE_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_query) != QUERY_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_attach) != ATTACH_SIZE_VER1);
	BUILD_BUG_ON(sizeof(struct ptsched_acquire) != ACQUIRE_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_release) != RELEASE_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_report) != REPORT_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_ack) != ACK_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_act_for) != ACT_FOR_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_mechanism) != MECHANISM_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_hand_over) != HAND_OVER_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_group) != GROUP_SIZE_VER0);
	BUILD_BUG_ON(sizeof(struct ptsched_page) != PAGE_SIZE_VER0);
}

/** ptsched_file_init - make the device node; 0 or a negative errno */
int ptsched_file_init(void)
{
	check_layout();
	return misc_register(&ptsched_misc);
}

/** ptsched_file_exit - remove it; nobody has it open */
void ptsched_file_exit(void)
{
	misc_deregister(&ptsched_misc);
}
