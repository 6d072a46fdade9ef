/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is refused of a call before anything is done, by the module and by the broker: other
 * numbers and sizes, unknown flags and reserved fields, and who may not make it.
 */
#ifndef PTSCHED_CONTRACT_ARGUMENTS_H
#define PTSCHED_CONTRACT_ARGUMENTS_H

#include <linux/ptsched.h>

#include "../policy/types.h"

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/errno.h>
#else
#include <assert.h>
#include <errno.h>
#endif

/** enum ptsc_caller - who may make a call */
enum ptsc_caller {
	PTSC_ANYBODY,	/* whoever has the descriptor, attached or not */
	PTSC_OWNER,	/* the process that attached */
};

/* Ends within the field, and nothing but zeros behind. */
static inline bool ptsc_is_name(const char name[PTSCHED_NAME_LEN])
{
	unsigned int i = 0;

	while (i < PTSCHED_NAME_LEN && name[i])
		i++;
	if (i == PTSCHED_NAME_LEN)
		return false;
	while (i < PTSCHED_NAME_LEN && !name[i])
		i++;
	return i == PTSCHED_NAME_LEN;
}

/* ptsc_check_query() and so on: 0, or -EINVAL for what the header does not allow. */
#define PTSC_CALL(NAME, name, first, size, caller, is_valid)				\
	static_assert(sizeof(struct ptsched_##name) == (size), "PTSCHED_IOC_" #NAME);	\
	static inline int ptsc_check_##name(const struct ptsched_##name *arg)		\
	{										\
		(void)arg;								\
		return (is_valid) ? 0 : -EINVAL;					\
	}
#include "calls.h"

/* The size within a code is that of the caller's header, and may be another. */
static inline bool ptsc_is_call(u32 code, u32 known)
{
	return !((code ^ known) & ~((u32)_IOC_SIZEMASK << _IOC_SIZESHIFT));
}

/**
 * ptsc_check_size - whether a structure is no shorter than it ever was
 * @size: what the caller says
 * @first: see calls.h
 *
 * Return: 0 or -EINVAL. What is beyond the structure as it is known must be zero, else
 * E2BIG: the host, which reads it, looks for itself.
 */
static inline int ptsc_check_size(u32 size, u32 first)
{
	return size < first ? -EINVAL : 0;
}

/**
 * ptsc_check_caller - whether this process may make a call, whatever its argument
 * @allowed: who may
 * @attached: the client is
 * @is_owner: by this process
 *
 * Return: 0, -ENOTCONN or -EPERM.
 */
static inline int ptsc_check_caller(enum ptsc_caller allowed, bool attached, bool is_owner)
{
	if (allowed == PTSC_ANYBODY)
		return 0;
	if (!attached)
		return -ENOTCONN;
	return is_owner ? 0 : -EPERM;
}

/**
 * ptsc_check_attach_again - an attached client is to be attached
 * @is_owner: by the process that did so before
 *
 * Return: -EBUSY or -EPERM.
 */
static inline int ptsc_check_attach_again(bool is_owner)
{
	return is_owner ? -EBUSY : -EPERM;
}

/**
 * ptsc_answer_query - PTSCHED_IOC_QUERY
 * @query: whose outputs are filled in
 * @nr_devices: so many can be attached to
 * @page_size: bytes to map
 */
static inline void ptsc_answer_query(struct ptsched_query *query, u32 nr_devices, u32 page_size)
{
	query->version_major = PTSCHED_VERSION_MAJOR;
	query->version_minor = PTSCHED_VERSION_MINOR;
	query->features = PTSCHED_FEATURE_PAGE | PTSCHED_FEATURE_ACT_FOR |
			  PTSCHED_FEATURE_NETLINK | PTSCHED_FEATURE_ABOVE |
			  PTSCHED_FEATURE_GROUP;
	query->nr_devices = nr_devices;
	query->page_size = page_size;
}

#endif /* PTSCHED_CONTRACT_ARGUMENTS_H */
