/* SPDX-License-Identifier: MIT */
/* What the kernel tests share: calls that return 0 or a negative errno. */
#ifndef KS_H
#define KS_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/ptsched.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KS_NODE "/dev/ptsched"
#define KS_DEVICE0 "ffff:01:00.0"
#define KS_DEVICE1 "ffff:02:00.0"

static inline int ks_result(int ret)
{
	return ret < 0 ? -errno : ret;
}

static inline int ks_open(void)
{
	return ks_result(open(KS_NODE, O_RDWR | O_CLOEXEC));
}

static inline int ks_attach(int fd, const char *device, struct ptsched_attach *out)
{
	struct ptsched_attach arg = {.size = sizeof(arg), .mechanism = PTSCHED_MECHANISM_GATE};
	int ret;

	memcpy(arg.device, device, strnlen(device, sizeof(arg.device)));
	ret = ks_result(ioctl(fd, PTSCHED_IOC_ATTACH, &arg));
	if (out)
		*out = arg;
	return ret;
}

/* A client on the first test device, or a negative errno. */
static inline int ks_client(void)
{
	int fd = ks_open();
	int ret = fd < 0 ? fd : ks_attach(fd, KS_DEVICE0, NULL);

	if (fd >= 0 && ret)
		close(fd);
	return ret ? ret : fd;
}

static inline int ks_acquire_until(int fd, uint64_t deadline_ns, unsigned int flags)
{
	struct ptsched_acquire arg = {
	    .size = sizeof(arg), .flags = flags, .deadline_ns = deadline_ns};

	return ks_result(ioctl(fd, PTSCHED_IOC_ACQUIRE, &arg));
}

static inline int ks_acquire(int fd)
{
	return ks_acquire_until(fd, PTSCHED_NEVER, 0);
}

static inline int ks_try(int fd)
{
	return ks_acquire_until(fd, PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY);
}

static inline int ks_release(int fd)
{
	struct ptsched_release arg = {.size = sizeof(arg)};

	return ks_result(ioctl(fd, PTSCHED_IOC_RELEASE, &arg));
}

static inline int ks_act_for(int fd, unsigned int kind, int other)
{
	struct ptsched_act_for arg = {.size = sizeof(arg), .kind = kind, .fd = other};

	return ks_result(ioctl(fd, PTSCHED_IOC_ACT_FOR, &arg));
}

static inline int ks_hand_over(int fd)
{
	struct ptsched_hand_over arg = {.size = sizeof(arg)};

	return ks_result(ioctl(fd, PTSCHED_IOC_HAND_OVER, &arg));
}

static inline int ks_group(int fd, const char *name)
{
	struct ptsched_group arg = {.size = sizeof(arg)};

	strncpy(arg.name, name, sizeof(arg.name) - 1);
	return ks_result(ioctl(fd, PTSCHED_IOC_GROUP, &arg));
}

static inline const volatile struct ptsched_page *ks_page(int fd)
{
	return mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd,
		    PTSCHED_PAGE_OFFSET);
}

static inline int ks_pidfd(pid_t pid)
{
	return ks_result((int)syscall(SYS_pidfd_open, pid, 0));
}

/* Looks again every millisecond until it holds; the harness ends what never does. */
#define KS_UNTIL(condition)                                                                        \
	do {                                                                                       \
		while (!(condition))                                                               \
			usleep(1000);                                                              \
	} while (0)

/* A random number; @state is its seed, and not 0. */
static inline uint32_t ks_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 11);
}

/* PTSCHED_SEED, or another one each time. */
static inline uint64_t ks_seed(void)
{
	const char *seed = getenv("PTSCHED_SEED");

	return (seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) << 16 | (unsigned int)getpid()) | 1;
}

/* What is random in its child goes on differently. */
static inline pid_t ks_fork_random(uint64_t *state)
{
	uint64_t seed = ((uint64_t)ks_random(state) << 32 | ks_random(state)) | 1;
	pid_t pid = fork();

	if (!pid)
		*state = seed;
	return pid;
}

/* At most 3 ms. */
static inline void ks_nap(uint64_t *state)
{
	struct timespec pause = {.tv_nsec = ks_random(state) % 3000000};

	nanosleep(&pause, NULL);
}

/* A kernel that checks is ten times slower. */
static inline bool ks_is_slow(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK) ||
	       !access("/sys/kernel/debug/kcsan", F_OK);
}

/* One byte from one process to another, as a sign. */
struct ks_sign {
	int fd[2];
};

static inline struct ks_sign ks_sign_new(void)
{
	struct ks_sign sign;

	if (pipe(sign.fd))
		abort();
	return sign;
}

static inline void ks_sign_give(const struct ks_sign *sign)
{
	if (write(sign->fd[1], "x", 1) != 1)
		_exit(99);
}

static inline void ks_sign_await(const struct ks_sign *sign)
{
	char byte;

	if (read(sign->fd[0], &byte, 1) != 1)
		_exit(98);
}

/* A descriptor to another process, over a Unix socket. */
static inline int ks_send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = {0}, byte = 0;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(sock, &msg, 0) == 1 ? 0 : -errno;
}

static inline int ks_receive_fd(int sock)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	int fd;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* The exit status of a child; 128 + n if signal n ended it. */
static inline int ks_wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A child is another user from here on, or ends. */
static inline void ks_become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		_exit(80);
}

static inline int ks_write_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

#endif /* KS_H */
