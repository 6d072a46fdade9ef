// SPDX-License-Identifier: MIT
/*
 * Random sequences of calls from many processes, for PTSCHED_SECONDS (30): at the end the module is idle, serves who
 * asks next, can be removed, and the kernel's log has no report. PTSCHED_SEED begins the sequences of another run
 * again, as far as the scheduling of processes allows. Where the kernel has KCOV, those sequences are varied that
 * reached something new.
 */
#include <linux/kcov.h>
#include <signal.h>
#include <stdio.h>
#include <sys/klog.h>
#include <sys/prctl.h>

#include <kselftest.h>

#include "fail_nth.h"
#include "ks.h"
#include "ks_netlink.h"
#include "sequences.h"

enum { CORPUS = 512, REACHED_BITS = 1 << 16, COVER = 1 << 16, PROGRESS_S = 5, PATIENCE_S = 60 };

struct shared {
	struct sequences_shared calls;
	_Atomic uint32_t kept;
	uint8_t corpus[CORPUS][SEQUENCE_GENES];
	_Atomic uint8_t reached[REACHED_BITS / 8];
};

struct worker {
	pid_t pid;
	uint64_t until_ms;
};

static struct shared *shared;
static struct worker workers[SEQUENCE_WORKERS];
static uint64_t random_state, sequences;
static bool has_kcov;

static uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 11;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

/* ---- what was reached ---- */

static uint64_t *cover_begin(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	uint64_t *cover = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!ioctl(fd, KCOV_INIT_TRACE, COVER))
		cover = mmap(NULL, COVER * sizeof(*cover), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (cover == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return NULL;
	__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
	return cover;
}

static void cover_end(const uint64_t *cover, const uint8_t *genes)
{
	uint64_t count = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
	bool is_new = false;

	for (uint64_t i = 1; i <= count && i < COVER; i++) {
		uint32_t bit = (uint32_t)(cover[i] * 0x9e3779b97f4a7c15 >> 48) % REACHED_BITS;
		uint8_t mask = (uint8_t)(1 << bit % 8);

		is_new |= !(atomic_fetch_or(&shared->reached[bit / 8], mask) & mask);
	}
	if (is_new)
		memcpy(shared->corpus[shared->kept++ % CORPUS], genes, SEQUENCE_GENES);
}

static unsigned int count_reached(void)
{
	unsigned int count = 0;

	for (int i = 0; i < REACHED_BITS / 8; i++)
		count += (unsigned int)__builtin_popcount(shared->reached[i]);
	return count;
}

/* ---- the sequences ---- */

static void make_genes(uint8_t *genes)
{
	uint32_t kept = shared->kept < CORPUS ? shared->kept : CORPUS;

	for (int i = 0; i < SEQUENCE_GENES; i++)
		genes[i] = (uint8_t)rnd();
	if (!kept || rnd() % 3 == 0)
		return;
	/* The beginning of one, or one with changes. */
	const uint8_t *old = shared->corpus[rnd() % kept];
	size_t cut = rnd() % 2 ? SEQUENCE_GENES : rnd() % SEQUENCE_GENES;

	memcpy(genes, old, cut);
	for (uint64_t changes = rnd() % 8; changes > 0; changes--)
		genes[rnd() % SEQUENCE_GENES] = (uint8_t)rnd();
}

static void live(const uint8_t *genes)
{
	uint64_t *cover;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cover = cover_begin();
	sequence_run(&shared->calls, genes);
	if (cover)
		cover_end(cover, genes);
	_exit(0);
}

/* Every third is killed at any moment, and those that wait for too long. */
static void start(int slot)
{
	/* A kernel with KCOV is one that is slow. */
	uint64_t limit_ms = has_kcov ? 10000 : 2000;
	uint64_t life_ms = rnd() % 3 ? limit_ms : rnd() % (limit_ms / 4);
	uint8_t genes[SEQUENCE_GENES];
	pid_t pid;

	make_genes(genes);
	pid = fork();
	if (pid == 0)
		live(genes);
	if (pid < 0)
		return;
	workers[slot] = (struct worker){.pid = pid, .until_ms = now_ms() + life_ms};
	shared->calls.workers[slot] = pid;
	sequences++;
}

static void reap(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (int i = 0; i < SEQUENCE_WORKERS; i++) {
			if (workers[i].pid != pid)
				continue;
			shared->calls.workers[i] = 0;
			workers[i].pid = 0;
		}
	}
}

static void say_progress(uint64_t begin_ms)
{
	ksft_print_msg("%llu s: %llu sequences, %llu calls, %u places reached\n",
		       (unsigned long long)(now_ms() - begin_ms) / 1000, (unsigned long long)sequences,
		       (unsigned long long)shared->calls.calls, count_reached());
	fflush(stdout);
}

static void run(uint64_t seconds)
{
	uint64_t begin = now_ms(), end = begin + seconds * 1000, told = begin;

	while (now_ms() < end) {
		reap();
		for (int i = 0; i < SEQUENCE_WORKERS; i++) {
			if (!workers[i].pid)
				start(i);
			else if (now_ms() > workers[i].until_ms)
				kill(workers[i].pid, SIGKILL);
		}
		usleep(500);
		if (now_ms() - told >= PROGRESS_S * 1000) {
			told = now_ms();
			say_progress(begin);
		}
	}
	for (int i = 0; i < SEQUENCE_WORKERS; i++)
		if (workers[i].pid)
			kill(workers[i].pid, SIGKILL);
	say_progress(begin);
}

/* ---- the end ---- */

/* Looks until it holds, for a minute at most. */
static bool comes_true(bool (*holds)(void))
{
	uint64_t end = now_ms() + PATIENCE_S * 1000;

	while (!holds()) {
		if (now_ms() > end)
			return false;
		usleep(10000);
	}
	return true;
}

/* Orphans are this process's. */
static bool all_are_gone(void)
{
	reap();
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static bool is_idle(void)
{
	return ks_count() == 0 && ks_waiters() == 0;
}

static bool serves(void)
{
	int fd = ks_client();
	/* What dead processes owe is repaid first. */
	uint64_t end_ns = (now_ms() + PATIENCE_S * 1000) * 1000000;
	bool served = fd >= 0 && !ks_acquire_until(fd, end_ns, 0) && !ks_release(fd);

	close(fd);
	return served;
}

/* Nobody has a file or a mapping any more, and nothing that it had is left. The next program has it inserted again. */
static bool is_removed(void)
{
	return !syscall(SYS_delete_module, "ptsched", O_NONBLOCK);
}

static bool log_has_report(void)
{
	static const char *const reports[] = {"BUG:",	     "WARNING:", "KASAN:",    "UBSAN:",
					      "refcount_t:", "Oops",	 "circular locking",
					      "Objects remaining", "still has", "soft lockup"};
	int size = klogctl(10, NULL, 0);
	char *log = calloc(1, (size_t)size + 1);
	bool found = false;

	klogctl(3, log, size);
	for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++)
		found |= strstr(log, reports[i]) != NULL;
	free(log);
	return found;
}

static void prepare(void)
{
	random_state = from_environment("PTSCHED_SEED", (uint64_t)time(NULL) << 16 | (unsigned int)getpid()) | 1;
	ksft_print_msg("PTSCHED_SEED=%llu\n", (unsigned long long)random_state);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_DGRAM, 0, shared->calls.sockets))
		ksft_exit_fail_msg("no memory or no sockets\n");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	has_kcov = access("/sys/kernel/debug/kcov", F_OK) == 0;
	ksft_print_msg("%s\n", has_kcov ? "with KCOV" : "without KCOV: sequences are random");
	ksft_print_msg("%s\n", faults_are_ready() ? "allocations fail" : "no allocation fails");
}

int main(int argc, char **argv)
{
	uint64_t seconds = from_environment("PTSCHED_SECONDS", 30);

	if (argc == 2 && !strcmp(argv[1], "--rest"))
		return sequence_rest();
	setvbuf(stdout, NULL, _IOLBF, 0);
	ksft_print_header();
	ksft_set_plan(6);
	prepare();
	run(seconds);
	ksft_test_result(comes_true(all_are_gone), "%llu sequences, and every process has ended\n",
			 (unsigned long long)sequences);
	/* What wanders between processes ends with the sockets. */
	close(shared->calls.sockets[0]);
	close(shared->calls.sockets[1]);
	ksft_test_result(comes_true(is_idle), "nobody is left on a device\n");
	ksft_test_result(serves(), "who asks next has the turn\n");
	ksft_test_result(!has_kcov || count_reached() > 0, "what is reached is seen, where there is KCOV\n");
	ksft_test_result(comes_true(is_removed), "the module can be removed\n");
	ksft_test_result(!log_has_report(), "the kernel has nothing to report\n");
	ksft_finished();
}
