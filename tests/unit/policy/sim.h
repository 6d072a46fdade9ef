/* SPDX-License-Identifier: MIT */
/*
 * Programs under the policy, in virtual time: thousands of seconds in a moment,
 * and the same result every time.
 *
 * A program thinks, submits a kernel, waits for it, and starts again. The device
 * runs one kernel at a time, in order of submission, and cannot preempt. A
 * program behaves as the interposer makes it: it gives the turn back when it is
 * called back and its kernel is done, or when somebody wants the device and it
 * has nothing to submit.
 */
#ifndef TESTS_UNIT_POLICY_SIM_H
#define TESTS_UNIT_POLICY_SIM_H

#include "kmod/policy/policy.h"

#define MS	1000000ULL
#define SECOND	(1000 * MS)

enum sim_phase { SIM_ABSENT, SIM_THINKING, SIM_WAITING, SIM_QUEUED, SIM_RUNNING };

struct sim_program {
	struct ptsp_entity entity;	/* first: the ops get this pointer */
	struct ptsp_user user;
	int nice;
	u64 kernel_ns;
	u64 think_ns;
	u64 start_ns;

	enum sim_phase phase;
	u64 until_ns;			/* end of thought or kernel */
	u64 queued_ns;
	u64 kernels;
	u64 gpu_ns;			/* ground truth */
	u64 longest_wait_ns;
	u64 wait_since_ns;
};

struct sim {
	struct ptsp_device dev;
	struct sim_program *programs;
	unsigned int nr;
	u64 now;
	u64 timer;
	u64 busy_ns;
	struct sim_program *running;
};

void sim_init(struct sim *sim, const struct ptsp_params *params, struct sim_program *programs,
	      unsigned int nr);

/* Run until @until; programs that were absent begin at their start_ns. */
void sim_run(struct sim *sim, u64 until);

#endif
