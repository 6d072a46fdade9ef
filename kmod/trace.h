/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints, for ftrace and perf: /sys/kernel/tracing/events/ptsched. All are
 * hit under the device's lock, so that their order is the order of decisions.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ptsched

#if !defined(PTSCHED_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PTSCHED_TRACE_H

#include <linux/tracepoint.h>

#include "core.h"

#ifndef PTSCHED_TRACE_BUDGET
#define PTSCHED_TRACE_BUDGET
static inline s64 ptsched_trace_budget(const struct ptsched_entity *ent)
{
	return ptsp_budget(&ent->dev->policy, &ent->policy, ktime_get_ns());
}
#endif

DECLARE_EVENT_CLASS(ptsched_entity_class,
		    TP_PROTO(struct ptsched_entity *ent),
		    TP_ARGS(ent),
		    TP_STRUCT__entry(__field(u32, device)
				     __field(pid_t, tgid)
				     __field(u64, entity)
				     __field(u64, turn)
				     __field(s64, budget_ns)
				     __field(u32, weight)),
		    TP_fast_assign(__entry->device = ent->dev->id;
				   __entry->tgid = pid_nr(ent->pid);
				   __entry->entity = ent->id;
				   __entry->turn = ent->policy.turn;
				   __entry->budget_ns = ptsched_trace_budget(ent);
				   __entry->weight = ent->policy.weight;),
		    TP_printk("device=%u tgid=%d entity=%llu turn=%llu budget_ns=%lld weight=%u",
			      __entry->device, __entry->tgid, __entry->entity, __entry->turn,
			      __entry->budget_ns, __entry->weight)
);

/* A process came to a device. */
DEFINE_EVENT(ptsched_entity_class, ptsched_attach,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));
/* It asks for the turn. */
DEFINE_EVENT(ptsched_entity_class, ptsched_wait,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));
/* It has the turn. */
DEFINE_EVENT(ptsched_entity_class, ptsched_grant,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));
/* It is asked to give the turn back. */
DEFINE_EVENT(ptsched_entity_class, ptsched_callback,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));
/* Its work is to leave the device at once. */
DEFINE_EVENT(ptsched_entity_class, ptsched_preempt,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));
/* It gave the turn back, or its end did. */
DEFINE_EVENT(ptsched_entity_class, ptsched_release,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));
/* It left the device: its last client was closed, or the process died. */
DEFINE_EVENT(ptsched_entity_class, ptsched_exit,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));
/* Called back, it did not drain in time: others have the turn beside it. */
DEFINE_EVENT(ptsched_entity_class, ptsched_forced,
	     TP_PROTO(struct ptsched_entity *ent), TP_ARGS(ent));

/* A client told of its use. */
TRACE_EVENT(ptsched_charge,
	    TP_PROTO(struct ptsched_entity *ent, u64 gpu_ns, u32 submissions),
	    TP_ARGS(ent, gpu_ns, submissions),
	    TP_STRUCT__entry(__field(u32, device)
			     __field(pid_t, tgid)
			     __field(u64, entity)
			     __field(u64, gpu_ns)
			     __field(u32, submissions)
			     __field(s64, budget_ns)),
	    TP_fast_assign(__entry->device = ent->dev->id;
			   __entry->tgid = pid_nr(ent->pid);
			   __entry->entity = ent->id;
			   __entry->gpu_ns = gpu_ns;
			   __entry->submissions = submissions;
			   __entry->budget_ns = ptsched_trace_budget(ent);),
	    TP_printk("device=%u tgid=%d entity=%llu gpu_ns=%llu submissions=%u budget_ns=%lld",
		      __entry->device, __entry->tgid, __entry->entity, __entry->gpu_ns,
		      __entry->submissions, __entry->budget_ns)
);

/* A client has seen a change of its page; drain_ns is its own estimate. */
TRACE_EVENT(ptsched_ack,
	    TP_PROTO(struct ptsched_entity *ent, u32 events, u64 drain_ns),
	    TP_ARGS(ent, events, drain_ns),
	    TP_STRUCT__entry(__field(u32, device)
			     __field(pid_t, tgid)
			     __field(u64, entity)
			     __field(u32, events)
			     __field(u64, drain_ns)),
	    TP_fast_assign(__entry->device = ent->dev->id;
			   __entry->tgid = pid_nr(ent->pid);
			   __entry->entity = ent->id;
			   __entry->events = events;
			   __entry->drain_ns = drain_ns;),
	    TP_printk("device=%u tgid=%d entity=%llu events=%u drain_ns=%llu",
		      __entry->device, __entry->tgid, __entry->entity, __entry->events,
		      __entry->drain_ns)
);

/* The device's timer ran: what was due in the policy is done next. */
TRACE_EVENT(ptsched_expire,
	    TP_PROTO(struct ptsched_dev *dev),
	    TP_ARGS(dev),
	    TP_STRUCT__entry(__field(u32, device)),
	    TP_fast_assign(__entry->device = dev->id;),
	    TP_printk("device=%u", __entry->device)
);

#endif /* PTSCHED_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
