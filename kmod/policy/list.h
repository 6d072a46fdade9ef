/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Entities in lists and trees. The lists are of struct ptsp_link, since the kernel's own
 * are not there in user space.
 */
#ifndef PTSCHED_POLICY_LIST_H
#define PTSCHED_POLICY_LIST_H

#include "structures.h"

#define ptsp_node_entry(node, member) \
	((struct ptsp_entity *)((char *)(node) - offsetof(struct ptsp_entity, member)))

/* The first of a tree, by the member that links it there; NULL: it is empty. */
#define ptsp_tree_first(tree, member) ({ \
	struct rb_node *first_ = rb_first_cached(tree); \
	first_ ? ptsp_node_entry(first_, member) : NULL; })

#define ptsp_entry(link, member) \
	((struct ptsp_entity *)((char *)(link) - offsetof(struct ptsp_entity, member)))

static inline void ptsp_list_init(struct ptsp_link *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool ptsp_list_empty(const struct ptsp_link *list)
{
	return list->next == list;
}

static inline void ptsp_list_add_before(struct ptsp_link *link, struct ptsp_link *pos)
{
	link->prev = pos->prev;
	link->next = pos;
	pos->prev->next = link;
	pos->prev = link;
}

static inline void ptsp_list_del(struct ptsp_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	ptsp_list_init(link);
}

/* The first entity of a queue, and the one after @e; NULL: none. */
static inline struct ptsp_entity *ptsp_queue_first(const struct ptsp_link *queue)
{
	return queue->next == queue ? NULL : ptsp_entry(queue->next, queue);
}

static inline struct ptsp_entity *ptsp_queue_next(const struct ptsp_link *queue,
						  const struct ptsp_entity *e)
{
	return e->queue.next == queue ? NULL : ptsp_entry(e->queue.next, queue);
}

/* The same from the end. */
static inline struct ptsp_entity *ptsp_queue_last(const struct ptsp_link *queue)
{
	return queue->prev == queue ? NULL : ptsp_entry(queue->prev, queue);
}

static inline struct ptsp_entity *ptsp_queue_prev(const struct ptsp_link *queue,
						  const struct ptsp_entity *e)
{
	return e->queue.prev == queue ? NULL : ptsp_entry(e->queue.prev, queue);
}

#endif /* PTSCHED_POLICY_LIST_H */
