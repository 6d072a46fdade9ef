/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Ordered trees: the kernel's, or in user space the same functions over those of
 * BSD. Who is equal to others comes after them.
 */
#ifndef PTSCHED_POLICY_TREE_H
#define PTSCHED_POLICY_TREE_H

#ifdef __KERNEL__

#include <linux/rbtree.h>

static inline struct rb_node *ptsp_tree_last(const struct rb_root_cached *tree)
{
	return rb_last(&tree->rb_root);
}

#else

#include <bsd/sys/tree.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rb_node {
	RB_ENTRY(rb_node) links;
};

RB_HEAD(rb_root_cached, rb_node);

void rb_add_cached(struct rb_node *node, struct rb_root_cached *tree,
		   bool (*less)(struct rb_node *a, const struct rb_node *b));
void rb_erase_cached(struct rb_node *node, struct rb_root_cached *tree);
struct rb_node *rb_first_cached(const struct rb_root_cached *tree);
struct rb_node *rb_next(const struct rb_node *node);
struct rb_node *ptsp_tree_last(const struct rb_root_cached *tree);

#ifdef __cplusplus
}
#endif

#endif /* __KERNEL__ */

#endif /* PTSCHED_POLICY_TREE_H */
