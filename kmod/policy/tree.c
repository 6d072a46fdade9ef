// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The kernel's calls for ordered trees, in user space. */
#include "tree.h"

#include <stddef.h>

/* The tree's own insertion and search are not used, so that no order is needed. */
static int no_order(const struct rb_node *a, const struct rb_node *b)
{
	return a < b ? -1 : a > b;
}

RB_PROTOTYPE(rb_root_cached, rb_node, links, no_order)
RB_GENERATE(rb_root_cached, rb_node, links, no_order)

void rb_add_cached(struct rb_node *node, struct rb_root_cached *tree,
		   bool (*less)(struct rb_node *a, const struct rb_node *b))
{
	struct rb_node *parent = NULL, **link = &RB_ROOT(tree);

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &RB_LEFT(parent, links) : &RB_RIGHT(parent, links);
	}
	RB_SET(node, parent, links);
	*link = node;
	rb_root_cached_RB_INSERT_COLOR(tree, node);
}

void rb_erase_cached(struct rb_node *node, struct rb_root_cached *tree)
{
	RB_REMOVE(rb_root_cached, tree, node);
}

struct rb_node *rb_first_cached(const struct rb_root_cached *tree)
{
	return RB_MIN(rb_root_cached, (struct rb_root_cached *)tree);
}

struct rb_node *rb_next(const struct rb_node *node)
{
	return RB_NEXT(rb_root_cached, NULL, (struct rb_node *)node);
}

struct rb_node *ptsp_tree_last(const struct rb_root_cached *tree)
{
	return RB_MAX(rb_root_cached, (struct rb_root_cached *)tree);
}
