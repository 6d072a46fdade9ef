// SPDX-License-Identifier: MIT
#include "sequences.h"

#include "ks.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

enum { FILES = 32, PIDFDS = 8, MAPS = 8, THREADS = 3, NOBODY = 65534, GENL_FAMILY_GUESS = 0x20 };

/* One thread's choices. */
struct choices {
	const uint8_t *genes;
	size_t left;
	uint64_t state;
	int depth; /* of forks and threads */
};

/* Threads of a process share them, and do not mind. */
static struct sequences_shared *shared;
static int files[FILES], pidfds[PIDFDS];
static void *maps[MAPS];
static int family = GENL_FAMILY_GUESS;

static uint64_t draw(struct choices *c)
{
	c->state ^= c->state << 13;
	c->state ^= c->state >> 7;
	c->state ^= c->state << 17;
	return c->state >> 11;
}

static unsigned int below(struct choices *c, unsigned int limit)
{
	if (!c->left || limit > 256)
		return (unsigned int)(draw(c) % limit);
	c->left--;
	return *c->genes++ % limit;
}

/* Of any size. */
static uint64_t number(struct choices *c)
{
	return draw(c) >> below(c, 54);
}

static int file(struct choices *c)
{
	return files[below(c, FILES)];
}

static void keep(struct choices *c, int fd)
{
	int *slot = &files[below(c, FILES)];
	int old = *slot;

	if (fd < 0)
		return;
	*slot = fd;
	if (old > 0)
		close(old);
}

static uint64_t soon(struct choices *c)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + draw(c) % 20000000;
}

/* ---- calls of the contract ---- */

static void call_open(struct choices *c)
{
	keep(c, open(KS_NODE, below(c, 4) ? O_RDWR | O_CLOEXEC : below(c, 2) ? O_RDONLY : O_RDWR | O_NONBLOCK));
}

static void call_attach(struct choices *c)
{
	static const char *const devices[] = {KS_DEVICE0, KS_DEVICE0, KS_DEVICE1, "ffff:03:00.0", "x"};

	ks_attach(file(c), devices[below(c, 5)], NULL);
}

static void call_acquire(struct choices *c)
{
	const unsigned int how = below(c, 3) ? 0 : PTSCHED_ACQUIRE_TRY;
	int fd = file(c);

	ks_acquire_until(fd, below(c, 8) ? soon(c) : number(c),
			 how | (below(c, 3) ? 0 : PTSCHED_ACQUIRE_ABOVE));
}

static void call_release(struct choices *c)
{
	struct ptsched_release arg = {.size = sizeof(arg), .submissions = (uint32_t)number(c)};

	arg.gpu_ns = number(c);
	arg.handover_ns = number(c);
	ioctl(file(c), PTSCHED_IOC_RELEASE, &arg);
}

static void call_report(struct choices *c)
{
	struct ptsched_report arg = {.size = sizeof(arg), .submissions = (uint32_t)number(c)};

	arg.gpu_ns = number(c);
	ioctl(file(c), PTSCHED_IOC_REPORT, &arg);
}

static void call_ack(struct choices *c)
{
	struct ptsched_ack arg = {.size = sizeof(arg), .events = below(c, 8)};

	arg.drain_ns = number(c);
	ioctl(file(c), PTSCHED_IOC_ACK, &arg);
}

static void call_mechanism(struct choices *c)
{
	struct ptsched_mechanism arg = {.size = sizeof(arg), .mechanism = below(c, 5)};

	ioctl(file(c), PTSCHED_IOC_MECHANISM, &arg);
}

static void call_act_for(struct choices *c)
{
	int fd = file(c);

	if (below(c, 2))
		ks_act_for(fd, PTSCHED_ACT_FOR_CLIENT, file(c));
	else
		ks_act_for(fd, PTSCHED_ACT_FOR_PIDFD, below(c, 4) ? pidfds[below(c, PIDFDS)] : -1);
}

static void call_group(struct choices *c)
{
	static const char *const names[] = {"", "ranks", "others"};

	ks_group(file(c), names[below(c, 3)]);
}

static void call_hand_over(struct choices *c)
{
	ks_hand_over(file(c));
}

/* Any call there is, whatever it is for, with something small here and there. */
static void call_any(struct choices *c)
{
	static const struct {
		unsigned int code, size;
	} all[] = {
#define PTSC_CALL(NAME, name, first, size, ...) {PTSCHED_IOC_##NAME, size},
#include "kmod/contract/calls.h"
	};
	unsigned int which = below(c, sizeof(all) / sizeof(*all));
	uint32_t words[64] = {all[which].size};

	for (unsigned int i = 1; i < all[which].size / sizeof(*words); i++)
		words[i] = below(c, 4) ? 0 : below(c, 4);
	ioctl(file(c), all[which].code, words);
}

/* Any number, size and place: at the end of what can be read, too. */
static void call_wrong(struct choices *c)
{
	static _Thread_local uint32_t words[64];
	unsigned int nr = below(c, 12), size = below(c, 2) ? 8 * below(c, 16) : below(c, 256);
	char *end = maps[below(c, MAPS)];
	void *where = below(c, 4) ? (void *)words : end ? end + 4096 - below(c, 80) : NULL;

	for (unsigned int i = 0; i < 64; i++)
		words[i] = below(c, 4) ? 0 : (uint32_t)number(c);
	words[0] = size;
	ioctl(file(c), _IOC(below(c, 4), PTSCHED_IOC_MAGIC, nr, size), where);
}

static void call_map(struct choices *c)
{
	unsigned int slot = below(c, MAPS);
	void *map = maps[slot];

	if (map) {
		maps[slot] = NULL;
		if (below(c, 4) == 0)
			mprotect(map, 4096, PROT_READ | PROT_WRITE);
		if (below(c, 4) == 0)
			madvise(map, 4096, MADV_DOFORK);
		munmap(map, 4096);
		return;
	}
	map = mmap(NULL, 4096 << below(c, 2), below(c, 4) ? PROT_READ : PROT_READ | PROT_WRITE,
		   below(c, 4) ? MAP_SHARED : MAP_PRIVATE, file(c), (off_t)below(c, 3) / 2 * 4096);
	if (map != MAP_FAILED)
		maps[slot] = map;
}

static void call_poll(struct choices *c)
{
	struct pollfd fds[3];

	for (int i = 0; i < 3; i++)
		fds[i] = (struct pollfd){.fd = file(c), .events = POLLIN | POLLPRI};
	poll(fds, 3, (int)below(c, 3));
}

static void call_epoll(struct choices *c)
{
	struct epoll_event event = {.events = EPOLLIN | (below(c, 2) ? EPOLLET : EPOLLONESHOT)};
	int fd = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(fd, EPOLL_CTL_ADD, file(c), &event);
	epoll_ctl(fd, EPOLL_CTL_ADD, file(c), &event);
	epoll_wait(fd, &event, 1, (int)below(c, 2));
	keep(c, fd);
}

/* ---- netlink and settings ---- */

static size_t put_attribute(char *at, unsigned int type, const void *value, unsigned int size)
{
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = (uint16_t)type};

	memcpy(at, &head, sizeof(head));
	memcpy(at + NLA_HDRLEN, value, size);
	return NLA_ALIGN(head.nla_len);
}

static int netlink_socket(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_GENERIC);

	bind(fd, (struct sockaddr *)&address, sizeof(address));
	return fd;
}

/* The number that the kernel has given to the family. */
static void find_family(void)
{
	struct {
		struct nlmsghdr head;
		struct genlmsghdr genl;
		char rest[256];
	} message = {.head = {.nlmsg_type = GENL_ID_CTRL, .nlmsg_flags = NLM_F_REQUEST},
		     .genl = {.cmd = CTRL_CMD_GETFAMILY, .version = 1}};
	int fd = netlink_socket();
	ssize_t got;

	message.head.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN +
				 (uint32_t)put_attribute(message.rest, CTRL_ATTR_FAMILY_NAME, PTSCHED_GENL_NAME,
							 sizeof(PTSCHED_GENL_NAME));
	send(fd, &message, message.head.nlmsg_len, 0);
	got = recv(fd, &message, sizeof(message), 0);
	for (char *at = message.rest; got > 0 && at + NLA_HDRLEN < (char *)&message + got;) {
		struct nlattr *attr = (struct nlattr *)at;

		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			family = *(uint16_t *)(at + NLA_HDRLEN);
		if (attr->nla_len < NLA_HDRLEN)
			break;
		at += NLA_ALIGN(attr->nla_len);
	}
	close(fd);
}

/* Of cgroups that come and go. */
static const char *cgroup(struct choices *c)
{
	static const char *const folders[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/s", "/sys/fs/cgroup/s/s",
					      "/sys/fs/cgroup/t"};

	return folders[below(c, sizeof(folders) / sizeof(folders[0]))];
}

static void call_cgroup(struct choices *c)
{
	const char *folder = cgroup(c);
	char procs[64];
	int fd;

	switch (below(c, 4)) {
	case 0:
		mkdir(folder, 0755);
		return;
	case 1:
		rmdir(folder);
		return;
	}
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", folder);
	fd = open(procs, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "0", 1) < 0)
		sched_yield();
	close(fd);
}

static void call_netlink(struct choices *c)
{
	static const unsigned char sizes[] = {4, 4, 8, 8, 1, 1, 0, 16};
	_Alignas(8) char message[1024] = {0}, answer[4096];
	struct nlmsghdr *head = (struct nlmsghdr *)message;
	struct genlmsghdr *genl = NLMSG_DATA(head);
	size_t at = NLMSG_HDRLEN + GENL_HDRLEN;
	int folder = open(cgroup(c), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = netlink_socket();

	genl->cmd = (uint8_t)below(c, PTSCHED_CMD_MAX + 2);
	genl->version = PTSCHED_GENL_VERSION;
	for (unsigned int i = below(c, 8); i > 0; i--) {
		uint64_t value[2] = {below(c, 2) ? below(c, 4) : number(c), 0};
		unsigned int type = below(c, PTSCHED_A_MAX + 3);

		/* Some process's number is one that has a meaning. */
		if (type == PTSCHED_A_PID)
			value[0] = (uint64_t)shared->workers[below(c, SEQUENCE_WORKERS)];
		if (type == PTSCHED_A_CGROUP_FD)
			value[0] = (uint32_t)folder;
		at += put_attribute(message + at, type, value, sizes[below(c, sizeof(sizes))]);
	}
	head->nlmsg_len = (uint32_t)at;
	head->nlmsg_type = (uint16_t)family;
	head->nlmsg_flags = NLM_F_REQUEST | (below(c, 2) ? NLM_F_DUMP : NLM_F_ACK);
	send(fd, message, at, MSG_DONTWAIT);
	close(folder);
	for (unsigned int i = below(c, 4); i > 0; i--)
		recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	/* In the middle of a dump, or listening: its groups are few. */
	if (below(c, 4) == 0) {
		int group = 1 + (int)below(c, 16);

		setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
		keep(c, fd);
		return;
	}
	close(fd);
}

static void call_setting(struct choices *c)
{
	static const char *const names[] = {"policy", "idle_sharing", "many",  "slice_us",
					    "grace_us", "drain_us",	"alpha", "inflight_us", "grouping"};
	static const char *const policies[] = {"weighted", "literal", "none", "weighted"};
	static const char *const groupings[] = {"process", "user", "cgroup", "cgroup"};
	unsigned int which = below(c, 9);
	char path[64], value[24];
	int fd;

	snprintf(path, sizeof(path), "/sys/module/ptsched/parameters/%s", names[which]);
	if (which == 0)
		snprintf(value, sizeof(value), "%s", policies[below(c, 4)]);
	else if (which == 8)
		snprintf(value, sizeof(value), "%s", groupings[below(c, 4)]);
	else
		snprintf(value, sizeof(value), "%u", which < 3 ? below(c, 2) : 900 + below(c, 20000));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, value, strlen(value)) < 0)
		sched_yield();
	close(fd);
}

/* ---- files and their ways ---- */

static void call_close(struct choices *c)
{
	int *slot = &files[below(c, FILES)];

	if (*slot > 0)
		close(*slot);
	*slot = -1;
}

static void call_dup(struct choices *c)
{
	keep(c, dup(file(c)));
}

static void call_send(struct choices *c)
{
	char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {
	    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int fd = below(c, 4) ? file(c) : pidfds[below(c, PIDFDS)];

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	sendmsg(shared->sockets[0], &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void call_receive(struct choices *c)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {
	    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(shared->sockets[1], &msg, MSG_DONTWAIT) != 1 || !CMSG_FIRSTHDR(&msg))
		return;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	keep(c, fd);
}

static void call_fetch(struct choices *c)
{
	/* Whatever has this number there. */
	keep(c, (int)syscall(SYS_pidfd_getfd, pidfds[below(c, PIDFDS)], 3 + below(c, 40), 0));
}

static void call_file(struct choices *c)
{
	char bytes[16] = {0};
	int fd = file(c);

	switch (below(c, 4)) {
	case 0:
		if (read(shared->sockets[0] == fd ? -1 : fd, bytes, 0) < 0)
			sched_yield();
		break;
	case 1:
		lseek(fd, below(c, 2), SEEK_SET);
		break;
	case 2:
		fcntl(fd, F_SETFL, below(c, 2) ? O_NONBLOCK | O_ASYNC : 0);
		break;
	default:
		fcntl(fd, F_SETOWN, getpid());
	}
}

/* ---- processes ---- */

static void make_calls(struct choices *c, unsigned int count);

static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void *thread_main(void *arg)
{
	struct choices c = {.state = (uint64_t)(uintptr_t)arg | 1, .depth = 2};

	make_calls(&c, below(&c, 40));
	return NULL;
}

static void call_threads(struct choices *c)
{
	pthread_t threads[THREADS];
	bool made[THREADS];

	if (c->depth)
		return;
	for (int i = 0; i < THREADS; i++)
		made[i] = !pthread_create(&threads[i], NULL, thread_main, (void *)(uintptr_t)draw(c));
	for (int i = 0; i < THREADS; i++)
		if (made[i])
			pthread_join(threads[i], NULL);
}

static void execute(void)
{
	execl("/proc/self/exe", "sequences", "--rest", NULL);
	_exit(0);
}

static void child_main(struct choices *c)
{
	die_with_parent();
	c->state ^= (uint64_t)getpid() * 0x9e3779b97f4a7c15 | 1;
	c->left = 0;
	c->depth++;
	if (below(c, 6) == 0 && setuid(NOBODY))
		_exit(1);
	make_calls(c, below(c, 60));
	switch (below(c, 4)) {
	case 0:
		kill(getpid(), SIGKILL);
		break;
	case 1:
		execute();
		break;
	}
	_exit(0);
}

static void watch_child(struct choices *c, pid_t pid)
{
	int *slot = &pidfds[below(c, PIDFDS)], old = *slot, fd = ks_pidfd(pid);

	if (fd >= 0) {
		*slot = fd;
		if (old > 0)
			close(old);
	}
	if (below(c, 3) == 0)
		kill(pid, SIGKILL);
}

static void call_fork(struct choices *c)
{
	static const int spaces[] = {0, 0, 0, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWPID};
	pid_t pid;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	if (c->depth)
		return;
	/* Not of this process: it has to remain what it is. */
	pid = (pid_t)syscall(SYS_clone, SIGCHLD | spaces[below(c, 7)], 0, 0, 0, 0);
	if (pid == 0)
		child_main(c);
	if (pid > 0)
		watch_child(c, pid);
}

/* A process that shares the table of files. */
static void call_share(struct choices *c)
{
	pid_t pid;

	if (c->depth)
		return;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_FILES, 0, 0, 0, 0);
	if (pid == 0) {
		die_with_parent();
		usleep(below(c, 200) * 100);
		_exit(0);
	}
	if (pid > 0)
		watch_child(c, pid);
}

static void call_signal(struct choices *c)
{
	static const int signals[] = {SIGUSR1, SIGUSR1, SIGSTOP, SIGCONT, SIGCONT, SIGUSR1, SIGCONT, SIGKILL};
	pid_t pid = shared->workers[below(c, SEQUENCE_WORKERS)];

	if (pid > 0 && pid != getpid())
		kill(pid, signals[below(c, 8)]);
}

static void call_timer(struct choices *c)
{
	struct itimerval timer = {.it_value.tv_usec = 200 + below(c, 200) * 20};

	timer.it_interval.tv_usec = below(c, 2) ? 0 : 3000;
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void call_renice(struct choices *c)
{
	pid_t pid = below(c, 2) ? 0 : shared->workers[below(c, SEQUENCE_WORKERS)];

	setpriority(PRIO_PROCESS, (id_t)pid, (int)below(c, 40) - 20);
}

/* The n-th allocation of the next call fails, where the kernel can do that. */
static void call_fail(struct choices *c)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	char text[4];

	snprintf(text, sizeof(text), "%u", 1 + below(c, 8));
	if (fd >= 0 && write(fd, text, strlen(text)) > 0) {
		call_open(c);
		call_attach(c);
		if (write(fd, "0", 1) < 0)
			sched_yield();
	}
	close(fd);
}

static void make_calls(struct choices *c, unsigned int count)
{
	static void (*const calls[])(struct choices *) = {
	    call_open,	  call_open,	call_attach,  call_attach,    call_acquire, call_acquire, call_acquire,
	    call_acquire, call_release, call_release, call_release,   call_report,  call_ack,	  call_mechanism,
	    call_act_for, call_act_for, call_wrong,   call_hand_over, call_map,	    call_poll,	  call_epoll,
	    call_netlink, call_netlink, call_setting, call_close,     call_dup,	    call_send,	  call_receive,
	    call_fetch,	  call_file,	call_threads, call_fork,      call_share,   call_signal,  call_timer,
	    call_renice,  call_fail,	call_group,   call_cgroup,    call_any,
	};

	for (; count > 0; count--) {
		calls[below(c, sizeof(calls) / sizeof(*calls))](c);
		shared->calls++;
	}
}

static void on_signal(int signal)
{
	(void)signal;
}

void sequence_run(struct sequences_shared *all, const uint8_t *genes)
{
	struct choices c = {.genes = genes, .left = SEQUENCE_GENES};
	struct sigaction action = {.sa_handler = on_signal};

	memcpy(&c.state, genes, sizeof(c.state));
	c.state |= 1;
	shared = all;
	memset(files, -1, sizeof(files));
	memset(pidfds, -1, sizeof(pidfds));
	find_family();
	sigaction(SIGALRM, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	make_calls(&c, 40 + below(&c, 200));
}

int sequence_rest(void)
{
	usleep(20000);
	return 0;
}
