/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The calls of uapi/linux/ptsched.h, each once. What module, broker, tests and fuzzers
 * know of all calls they derive from here: who includes this file, which may be done
 * several times, defines before
 *
 *	PTSC_CALL(NAME, name, first, size, caller, is_valid)
 *
 * PTSCHED_IOC_@NAME takes a struct ptsched_@name, which had @first bytes when it was new and
 * has @size now. @caller is enum ptsc_caller, and @is_valid whether *arg, such a structure,
 * keeps to what the header says of it: EINVAL if not.
 */
PTSC_CALL(QUERY, query, 32, 32, PTSC_ANYBODY, !arg->flags)
PTSC_CALL(ATTACH, attach, 72, 80, PTSC_ANYBODY,
	  !(arg->flags & ~PTSCHED_ATTACH_NODE) && !arg->pad &&
	  arg->mechanism <= PTSCHED_MECHANISM_PREEMPT &&
	  (arg->flags & PTSCHED_ATTACH_NODE || !arg->node) && ptsc_is_name(arg->device))
PTSC_CALL(ACQUIRE, acquire, 40, 40, PTSC_OWNER,
	  !(arg->flags & ~(PTSCHED_ACQUIRE_TRY | PTSCHED_ACQUIRE_ABOVE)))
PTSC_CALL(RELEASE, release, 24, 24, PTSC_OWNER, true)
PTSC_CALL(REPORT, report, 16, 16, PTSC_OWNER, true)
PTSC_CALL(ACK, ack, 16, 16, PTSC_OWNER, true)
PTSC_CALL(ACT_FOR, act_for, 16, 16, PTSC_OWNER,
	  arg->kind <= PTSCHED_ACT_FOR_CLIENT && !arg->pad)
PTSC_CALL(MECHANISM, mechanism, 8, 8, PTSC_OWNER, arg->mechanism <= PTSCHED_MECHANISM_PREEMPT)
PTSC_CALL(HAND_OVER, hand_over, 8, 8, PTSC_OWNER, !arg->flags)
PTSC_CALL(GROUP, group, 56, 56, PTSC_OWNER, !arg->flags && ptsc_is_name(arg->name))

#undef PTSC_CALL
