// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Who comes first, without a look at all.
 *
 * A budget that is negative rises at a rate that virtual time contains already:
 * the virtual time at which it will be zero does not change while others come and
 * go. So those in debt are in order of that, and move when it is reached.
 */
#include "budget.h"
#include "decide.h"
#include "list.h"
#include "order.h"

static struct ptsp_user *user_entry(struct rb_node *node)
{
	return (struct ptsp_user *)((char *)node - offsetof(struct ptsp_user, node));
}

static bool by_key(struct rb_node *a, const struct rb_node *b)
{
	const struct ptsp_entity *x = ptsp_node_entry(a, order), *y = ptsp_node_entry(b, order);

	return x->key != y->key ? x->key < y->key : x->arrival < y->arrival;
}

/* Virtual time wraps; what is due is never half of its range away. */
static bool by_due(struct rb_node *a, const struct rb_node *b)
{
	return (s64)(ptsp_node_entry(a, order)->key - ptsp_node_entry(b, order)->key) < 0;
}

static bool by_weight(struct rb_node *a, const struct rb_node *b)
{
	return ptsp_node_entry(a, rank)->weight > ptsp_node_entry(b, rank)->weight;
}

static bool by_linger(struct rb_node *a, const struct rb_node *b)
{
	return ptsp_node_entry(a, take)->linger_ns < ptsp_node_entry(b, take)->linger_ns;
}

static bool by_given(struct rb_node *a, const struct rb_node *b)
{
	const struct ptsp_entity *x = ptsp_node_entry(a, take), *y = ptsp_node_entry(b, take);

	return x->given_vt != y->given_vt ? x->given_vt < y->given_vt : x->arrival < y->arrival;
}

static bool by_use(struct rb_node *a, const struct rb_node *b)
{
	return ptsp_node_entry(a, use)->use_ns < ptsp_node_entry(b, use)->use_ns;
}

static bool by_user(struct rb_node *a, const struct rb_node *b)
{
	const struct ptsp_user *x = user_entry(a), *y = user_entry((struct rb_node *)b);

	return x->key != y->key ? x->key < y->key : x->arrival < y->arrival;
}

static bool owes(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	return e->budget_ns < 0 && dev->params.kind != PTSP_NONE;
}

static struct rb_root_cached *place_of(struct ptsp_device *dev, const struct ptsp_entity *e)
{
	switch (e->state) {
	case PTSP_WAITING:
		return owes(dev, e) ? &dev->indebted : &dev->ready;
	case PTSP_HOLDING:
		return owes(dev, e) && dev->params.many && !e->called_back ? &dev->overdrawn : NULL;
	case PTSP_IDLE:
		break;
	}
	if (!e->active)
		return NULL;
	return owes(dev, e) ? &dev->repaying : &dev->back;
}

/* With the first of the user's waiters it may be another's turn. */
static void add_taker(struct ptsp_device *dev, struct ptsp_entity *e)
{
	rb_add_cached(&e->take, &e->user->waiters, by_given);
	if (rb_first_cached(&e->user->waiters) == &e->take)
		ptsp_place_user(dev, e->user);
}

static void remove_taker(struct ptsp_device *dev, struct ptsp_entity *e)
{
	bool first = rb_first_cached(&e->user->waiters) == &e->take;

	rb_erase_cached(&e->take, &e->user->waiters);
	if (first)
		ptsp_place_user(dev, e->user);
}

void ptsp_take_out(struct ptsp_device *dev, struct ptsp_entity *e)
{
	rb_erase_cached(&e->order, e->in);
	if (e->in == &dev->indebted)
		remove_taker(dev, e);
	if (e->in == &dev->overdrawn)
		dev->nr_overdrawn--;
	dev->nr_soon -= e->soon;
	e->soon = false;
	e->in = NULL;
}

/* The paper's rule orders nobody by weight: there, first come, first served. */
static u64 key_of(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	if (dev->params.kind != PTSP_WEIGHTED)
		return 0;
	return ((u64)~e->weight << 1) + (ptsp_goes_first(dev, e) ? 0 : 1);
}

/* Into the tree that it is to be in, if any. */
static void insert(struct ptsp_device *dev, struct ptsp_entity *e)
{
	e->in = place_of(dev, e);
	if (e->in == &dev->ready || e->in == &dev->back) {
		e->key = key_of(dev, e);
		e->soon = e->in == &dev->back && 2 * e->gap_ns < dev->params.grace_ns;
		dev->nr_soon += e->soon;
		rb_add_cached(&e->order, e->in, by_key);
	} else if (e->in) {
		e->key = ptsp_due(dev, e);
		rb_add_cached(&e->order, e->in, by_due);
		dev->nr_overdrawn += e->in == &dev->overdrawn;
	}
	if (e->in == &dev->indebted)
		add_taker(dev, e);
}

void ptsp_place(struct ptsp_device *dev, struct ptsp_entity *e)
{
	ptsp_unplace(dev, e);
	if (dev->nr_active == 1 && e->active && !owes(dev, e)) {
		dev->lone = e;
		return;
	}
	insert(dev, e);
}

void ptsp_place_lone(struct ptsp_device *dev)
{
	struct ptsp_entity *lone = dev->lone;

	if (!lone)
		return;
	dev->lone = NULL;
	ptsp_settle(dev, lone);
	insert(dev, lone);
	if (lone->state == PTSP_IDLE && !lone->lingers)
		ptsp_lingers(dev, lone);
}

static bool is_due(const struct ptsp_device *dev, const struct rb_root_cached *tree)
{
	const struct ptsp_entity *e = ptsp_tree_first(tree, order);

	return e && (s64)(e->key - dev->vtime) <= 0;
}

static void place_due(struct ptsp_device *dev, struct rb_root_cached *tree)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *e;

	while (is_due(dev, tree)) {
		if (!left--) {
			dev->more = true;
			return;
		}
		e = ptsp_tree_first(tree, order);
		ptsp_settle(dev, e);
		ptsp_place(dev, e);
	}
}

void ptsp_place_due(struct ptsp_device *dev)
{
	if (is_due(dev, &dev->indebted))
		place_due(dev, &dev->indebted);
	if (is_due(dev, &dev->repaying))
		place_due(dev, &dev->repaying);
	if (is_due(dev, &dev->overdrawn))
		place_due(dev, &dev->overdrawn);
}

u64 ptsp_next_due(const struct ptsp_device *dev)
{
	const struct ptsp_entity *e = ptsp_tree_first(&dev->indebted, order);

	return e ? ptsp_instant_of(dev, e->key) : PTSP_NEVER;
}

void ptsp_rank(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->ranked)
		rb_erase_cached(&e->rank, e->ranked);
	e->ranked = e->active ? &dev->active : &dev->inactive;
	rb_add_cached(&e->rank, e->ranked, by_weight);
}

u32 ptsp_top_weight(const struct ptsp_device *dev)
{
	const struct ptsp_entity *active = ptsp_tree_first(&dev->active, rank);
	const struct ptsp_entity *inactive = ptsp_tree_first(&dev->inactive, rank);

	return (u32)max_u64(active ? active->weight : 0, inactive ? inactive->weight : 0);
}

void ptsp_lingers(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (dev->lone == e)
		return;
	rb_add_cached(&e->take, &dev->lingerers, by_linger);
	e->lingers = true;
}

void ptsp_returns(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->lingers)
		rb_erase_cached(&e->take, &dev->lingerers);
	e->lingers = false;
}

void ptsp_place_user(struct ptsp_device *dev, struct ptsp_user *user)
{
	const struct ptsp_entity *first = ptsp_tree_first(&user->waiters, take);

	if (user->in)
		rb_erase_cached(&user->node, user->in);
	user->in = NULL;
	if (!first)
		return;
	user->in = user->withheld_ns > dev->now_ns ? &dev->withheld : &dev->takers;
	user->key = user->in == &dev->withheld ? user->withheld_ns : first->given_vt;
	user->arrival = first->arrival;
	rb_add_cached(&user->node, user->in, by_user);
}

struct ptsp_entity *ptsp_least_given(struct ptsp_device *dev, u64 *next)
{
	u32 left = PTSP_AT_ONCE;
	struct rb_node *node;

	if (!dev->params.idle_sharing)
		return NULL;
	while ((node = rb_first_cached(&dev->withheld))) {
		if (user_entry(node)->withheld_ns > dev->now_ns || !left--) {
			*next = min_u64(*next, user_entry(node)->withheld_ns);
			break;
		}
		ptsp_place_user(dev, user_entry(node));
	}
	node = rb_first_cached(&dev->takers);
	return node ? ptsp_tree_first(&user_entry(node)->waiters, take) : NULL;
}

void ptsp_count_use(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->counted_use_ns) {
		rb_erase_cached(&e->use, &dev->uses);
		dev->sum_use_ns -= e->counted_use_ns;
	}
	e->counted_use_ns = dev->params.kind == PTSP_LITERAL && e->active ? e->use_ns : 0;
	if (e->counted_use_ns) {
		rb_add_cached(&e->use, &dev->uses, by_use);
		dev->sum_use_ns += e->counted_use_ns;
	}
}
