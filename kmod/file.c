// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ptsched: what a program calls, by the table in contract/calls.h. Arguments are
 * checked here; what they mean is done by ptsched_call_NAME() for each.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "contract/arguments.h"
#include "core.h"

/* What version 1.0 had of structures that have grown, and of the page. */
#define ATTACH_SIZE_VER0	72
#define PAGE_SIZE_VER0		72

/* Room for the largest structure. */
union argument {
	__u32 size;
	__u64 words[10];
};

/** ptsched_call_query - PTSCHED_IOC_QUERY */
int ptsched_call_query(struct ptsched_client *client, struct ptsched_query *arg)
{
	ptsc_answer_query(arg, ptsched_dev_count(), PAGE_SIZE);
	return 0;
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

/**
 * ptsched_call_act_for - PTSCHED_IOC_ACT_FOR
 * @client: an attached client of the calling process
 * @arg: checked arguments
 *
 * Return: as ptsched_client_act_for(), -EBADF or -EINVAL.
 */
int ptsched_call_act_for(struct ptsched_client *client, struct ptsched_act_for *arg)
{
	struct file *file;
	int ret;

	if (arg->fd == -1)
		return ptsched_client_act_for(client, NULL, NULL);
	if (arg->fd < 0)
		return -EBADF;
	file = fget(arg->fd);
	if (!file)
		return -EBADF;
	/* The file keeps what it stands for. */
	ret = arg->kind == PTSCHED_ACT_FOR_CLIENT ? act_for_client(client, file) :
						    act_for_process(client, file);
	fput(file);
	return ret;
}

#define PTSC_CALL(NAME, name, ...)							\
	static int run_##name(struct ptsched_client *client, void *arg)			\
	{										\
		int ret = ptsc_check_##name(arg);					\
											\
		BUILD_BUG_ON(sizeof(struct ptsched_##name) > sizeof(union argument));	\
		return ret ? ret : ptsched_call_##name(client, arg);			\
	}
#include "contract/calls.h"

struct command {
	int (*run)(struct ptsched_client *client, void *arg);
	unsigned int code;
	u32 size;	/* of the structure as it is known here */
	u32 first;	/* the least that a caller may pass */
	enum ptsc_caller caller;
};

#define PTSC_CALL(NAME, name, first_size, now, who, ...)				\
	[_IOC_NR(PTSCHED_IOC_##NAME)] = { run_##name, PTSCHED_IOC_##NAME, now, first_size, who },
static const struct command commands[] = {
#include "contract/calls.h"
};

static const struct command *find_command(unsigned int code)
{
	const struct command *command;
	unsigned int nr = _IOC_NR(code);

	if (nr >= ARRAY_SIZE(commands))
		return NULL;
	command = &commands[array_index_nospec(nr, ARRAY_SIZE(commands))];
	return command->run && ptsc_is_call(code, command->code) ? command : NULL;
}

static int check_caller(struct ptsched_client *client, const struct command *command)
{
	/* Pairs with attach(): the owner is known once the device is. */
	bool attached = smp_load_acquire(&client->dev);

	return ptsc_check_caller(command->caller, attached,
				 attached && client->owner == task_tgid(current));
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
	ret = ptsc_check_size(size, command->first);
	if (ret)
		return ret;
	/* No version of a structure is that long; its tail is not worth reading. */
	if (size > PAGE_SIZE)
		return -E2BIG;
	/* Read again with the rest, so that it may have changed; @size counts. */
	ret = copy_struct_from_user(&arg, command->size, from, size);
	if (ret)
		return ret;
	ret = check_caller(client, command);
	if (ret)
		return ret;
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
	if (READ_ONCE(client->contract.closed) || READ_ONCE(page->state) & PTSCHED_STATE_DEAD)
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
	BUILD_BUG_ON(offsetofend(struct ptsched_attach, entity) != ATTACH_SIZE_VER0);
	BUILD_BUG_ON(offsetofend(struct ptsched_page, asker_cpu) != PAGE_SIZE_VER0);
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
