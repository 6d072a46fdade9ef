// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Who comes first, without a look at all.
 *
 * A budget that is negative rises at a rate that virtual time contains already:
 * the virtual time at which it will be zero does not change while others come and
 * go. So those in debt are in order of that, and move when it is reached.
 */
#include "budget.h"
#include "list.h"
#include "order.h"
#include "vtime.h"

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

static bool by_standing(struct rb_node *a, const struct rb_node *b)
{
	return ptsp_node_entry(a, rank)->standing > ptsp_node_entry(b, rank)->standing;
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

static enum ptsp_place place_of(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	switch (e->state) {
	case PTSP_WAITING:
		return owes(dev, e) ? PTSP_INDEBTED : PTSP_READY;
	case PTSP_HOLDING:
		return owes(dev, e) && dev->params.many && !e->called_back ? PTSP_OVERDRAWN :
									     PTSP_NOWHERE;
	case PTSP_IDLE:
		break;
	}
	if (!e->active)
		return PTSP_NOWHERE;
	return owes(dev, e) ? PTSP_REPAYING : PTSP_BACK;
}

static struct ptsp_dues *dues_of(struct ptsp_device *dev, struct ptsp_group *group)
{
	return group ? &group->dues : &dev->dues;
}

/* The tree that @e is in. */
static struct rb_root_cached *tree_of(struct ptsp_device *dev, const struct ptsp_entity *e)
{
	switch (e->place) {
	case PTSP_READY:
		return &dev->ready;
	case PTSP_BACK:
		return &dev->back;
	default:
		return &dues_of(dev, e->user->group)->entities[e->place - PTSP_INDEBTED];
	}
}

static struct ptsp_due_group *due_entry(struct rb_node *node)
{
	return (struct ptsp_due_group *)((char *)node - offsetof(struct ptsp_due_group, node));
}

/* The group that has @due at @which. */
static struct ptsp_group *group_of(struct ptsp_due_group *due, u32 which)
{
	return (struct ptsp_group *)((char *)(due - which) - offsetof(struct ptsp_group, due));
}

static bool by_due_group(struct rb_node *a, const struct rb_node *b)
{
	return (s64)(due_entry(a)->key - due_entry((struct rb_node *)b)->key) < 0;
}

/* The virtual time at which the first of a group's members, or of the device's, is due. */
static bool first_due(const struct ptsp_dues *dues, u32 which, u64 *key)
{
	const struct ptsp_entity *e = ptsp_tree_first(&dues->entities[which], order);
	struct rb_node *node = rb_first_cached(&dues->groups[which]);

	if (e)
		*key = e->key;
	if (node && (!e || (s64)(due_entry(node)->key - e->key) < 0))
		*key = due_entry(node)->key;
	return e || node;
}

/* Its members' first due time, or how fast it comes, has changed: so may have its parent's. */
static void place_due_group(struct ptsp_device *dev, struct ptsp_group *group, u32 which)
{
	struct rb_root_cached *tree;
	struct ptsp_due_group *due;
	u64 key;

	for (; group; group = group->parent) {
		due = &group->due[which];
		tree = &dues_of(dev, group->parent)->groups[which];
		if (due->placed)
			rb_erase_cached(&due->node, tree);
		due->placed = first_due(&group->dues, which, &key);
		if (!due->placed)
			continue;
		due->key = ptsp_vtime_above(dev, group, key);
		rb_add_cached(&due->node, tree, by_due_group);
	}
}

void ptsp_place_group(struct ptsp_device *dev, struct ptsp_group *group)
{
	u32 which;

	for (which = 0; which < PTSP_DUES; which++)
		place_due_group(dev, group, which);
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
	rb_erase_cached(&e->order, tree_of(dev, e));
	if (e->place >= PTSP_INDEBTED)
		place_due_group(dev, e->user->group, e->place - PTSP_INDEBTED);
	if (e->place == PTSP_INDEBTED)
		remove_taker(dev, e);
	if (e->place == PTSP_OVERDRAWN)
		dev->nr_overdrawn--;
	dev->nr_soon -= e->soon;
	e->soon = false;
	e->place = PTSP_NOWHERE;
}

/* The paper's rule orders nobody by weight: there, first come, first served. */
static u64 key_of(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	if (dev->params.kind != PTSP_WEIGHTED)
		return 0;
	return ((u64)~e->standing << 1) + (ptsp_goes_first(dev, e) ? 0 : 1);
}

/* Into the tree that it is to be in, if any. */
static void insert(struct ptsp_device *dev, struct ptsp_entity *e)
{
	e->place = (u8)place_of(dev, e);
	if (e->place >= PTSP_INDEBTED) {
		e->key = ptsp_due(dev, e);
		rb_add_cached(&e->order, tree_of(dev, e), by_due);
		place_due_group(dev, e->user->group, e->place - PTSP_INDEBTED);
		dev->nr_overdrawn += e->place == PTSP_OVERDRAWN;
	} else if (e->place) {
		e->key = key_of(dev, e);
		e->soon = e->place == PTSP_BACK && 2 * e->gap_ns < dev->params.grace_ns;
		dev->nr_soon += e->soon;
		rb_add_cached(&e->order, tree_of(dev, e), by_key);
	}
	if (e->place == PTSP_INDEBTED)
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

/* Whether the first of @group, or of the device, is due by what is known of it. */
static bool is_due(struct ptsp_device *dev, struct ptsp_group *group, u32 which)
{
	u64 key;

	return first_due(dues_of(dev, group), which, &key) &&
	       (s64)(key - ptsp_vtime(dev, group)) <= 0;
}

/* The group, or the device's top, whose member is due; where a group turns out not to be, NULL. */
static struct ptsp_entity *find_due(struct ptsp_device *dev, u32 which)
{
	struct ptsp_group *group = NULL;
	struct ptsp_dues *dues;
	struct ptsp_entity *e;

	for (;;) {
		dues = dues_of(dev, group);
		e = ptsp_tree_first(&dues->entities[which], order);
		if (e && (s64)(e->key - ptsp_vtime(dev, group)) <= 0)
			return e;
		group = group_of(due_entry(rb_first_cached(&dues->groups[which])), which);
		ptsp_advance_group(dev, group);
		if (!is_due(dev, group, which)) {
			place_due_group(dev, group, which);
			return NULL;
		}
	}
}

static void place_due(struct ptsp_device *dev, u32 which)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *e;

	while (is_due(dev, NULL, which)) {
		if (!left--) {
			dev->more = true;
			return;
		}
		e = find_due(dev, which);
		if (!e)
			continue;
		ptsp_settle(dev, e);
		ptsp_place(dev, e);
	}
}

void ptsp_place_due(struct ptsp_device *dev)
{
	u32 which;

	for (which = 0; which < PTSP_DUES; which++)
		place_due(dev, which);
}

u64 ptsp_next_due(const struct ptsp_device *dev)
{
	u64 key;

	return first_due(&dev->dues, 0, &key) ? ptsp_instant_of(dev, key) : PTSP_NEVER;
}

struct ptsp_entity *ptsp_first_overdrawn(struct ptsp_device *dev)
{
	const u32 which = PTSP_OVERDRAWN - PTSP_INDEBTED;
	struct ptsp_dues *dues = &dev->dues;
	struct rb_node *node;

	while ((node = rb_first_cached(&dues->groups[which])))
		dues = &group_of(due_entry(node), which)->dues;
	return ptsp_tree_first(&dues->entities[which], order);
}

void ptsp_rank(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->ranked)
		rb_erase_cached(&e->rank, e->ranked);
	e->ranked = e->active ? &dev->active : &dev->inactive;
	rb_add_cached(&e->rank, e->ranked, by_standing);
}

u32 ptsp_top_standing(const struct ptsp_device *dev)
{
	const struct ptsp_entity *active = ptsp_tree_first(&dev->active, rank);
	const struct ptsp_entity *inactive = ptsp_tree_first(&dev->inactive, rank);

	return (u32)max_u64(active ? active->standing : 0, inactive ? inactive->standing : 0);
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
