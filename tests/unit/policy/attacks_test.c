// SPDX-License-Identifier: MIT
/*
 * What a program gains by doing other than the library would: GPU time beyond its
 * fair share, at the cost of honest programs, as a part of what it has when it is
 * honest. For each attack the worst of many settings is printed, and bounded but
 * for those of which Documentation/security.rst says that they are open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rivals.h"

#define BOUND		0.02
#define DURATION_NS	(60 * SECOND)

/* Who is attacked. */
enum { HOGS = 1, HALVES = 2, PAUSING = 4, ALL = 7 };

static const struct demand hog = { .kernel_ns = 20 * MS };

static const struct {
	u32 bit;
	const char *name;
	struct demand demand;
} victims[] = {
	{ HOGS, "always have work", { .kernel_ns = 20 * MS } },
	{ HALVES, "leave half of their time idle", { .kernel_ns = MS, .gap_ns = MS } },
	{ PAUSING, "pause", { .kernel_ns = 5 * MS, .burst_ns = 5 * MS, .pause_ns = 11 * MS } },
};

struct attack {
	const char *name;
	struct ways ways;
	u32 beside;	/* so it is bounded */
	bool pauses;	/* else it always has work */
	bool owes;	/* what it owes in the end is not gained */
};

static const struct attack attacks[] = {
	{ "reports-nothing", { .lies = true }, .beside = ALL },
	{ "reports-too-much", { .lies = true, .reported_permille = 10000 }, .beside = ALL },
	{ "pretends-idleness", { .lies = true, .reported_permille = 100 }, .beside = ALL },
	{ "claims-long-handovers", { .claimed_handover_ns = 3600 * SECOND }, .beside = ALL },
	{ "claims-no-handovers", { .claimed_handover_ns = 1 }, .beside = ALL },
	{ "tells-no-drain", { .drained_at_once = true }, .beside = ALL },
	{ "tells-no-drain-and-goes-on", { .drained_at_once = true, .defies_ns = 99 * MS },
	  .beside = ALL },
	{ "drains-in-20-ms", { .defies_ns = 20 * MS }, .beside = ALL },
	{ "drains-in-99-ms", { .defies_ns = 99 * MS }, .beside = HOGS | HALVES },
	{ "drains-in-500-ms", { .defies_ns = 500 * MS }, .beside = ALL },
	{ "never-drains", { .defies_ns = PTSP_NEVER }, .beside = HOGS, .owes = true },
	{ "keeps-an-idle-turn", { .keeps_ns = 99 * MS }, .beside = ALL },
	{ "never-releases", { .keeps_ns = 1000 * SECOND }, .beside = ALL },
	{ "reborn-after-each-turn", { .rebirth = REBORN_DRAINED }, .beside = ALL },
	{ "reborn-in-its-turn", { .rebirth = REBORN_HOLDING }, .beside = ALL },
	{ "forks-with-debt", { .rebirth = REBORN_FORKED }, .beside = ALL },
	{ "one-after-another", { .life_ns = 5 * MS }, .beside = ALL },
	{ "tries-in-a-loop", { .tries_ns = MS / 5 }, .beside = ALL },
	{ "cancels-after-1-ms", { .waits_ns = MS }, .beside = ALL },
	{ "cancels-after-20-ms", { .waits_ns = 20 * MS }, .beside = ALL },
	{ "pauses-to-be-fresh", { .pauses_ns = 21 * MS / 10 }, .beside = ALL },
	{ "above-without-end", { .above = true }, .beside = ALL },
	{ "above-with-pauses", { .above = true }, .beside = ALL, .pauses = true },
	{ "lighter-in-its-turn", { .renice = RENICE_HOLDING }, .beside = ALL },
	{ "lighter-while-waiting", { .renice = RENICE_WAITING }, .beside = ALL },
	{ "renices-often", { .renice = RENICE_OFTEN }, .beside = ALL },
	{ "acts-for-another", { .acts_for = true }, .beside = ALL },
};

#define NR_ATTACKS	(sizeof(attacks) / sizeof(attacks[0]))

static struct demand demand_of(const struct attack *attack)
{
	return attack->pauses ? victims[1].demand : hog;
}

/* So many honest processes are what it is compared with. */
static u32 processes_of(const struct attack *attack)
{
	return attack->ways.acts_for ? 2 : 1;
}

/* Beside whom, and on what device. */
struct setting {
	u32 victim;
	u32 victims;
	int nice;	/* of the attacker; the others have 0 */
	bool sharing;
	bool preempts;
};

struct outcome {
	double attacker_ns;
	double owed_ns;
	double victims_ns[RIVALS_MAX];
};

static struct outcome contest_between(const struct attack *attack, bool honest,
				      const struct setting *s)
{
	static struct contest c;
	struct ptsp_params params = ptsp_default_params();
	u32 attackers = honest ? processes_of(attack) : 1;
	struct outcome out = { 0 };

	memset(&c, 0, sizeof(c));
	params.idle_sharing = s->sharing;
	c.nr = attackers + s->victims;
	for (u32 i = 0; i < c.nr; i++)
		c.rivals[i] = i < attackers ?
			(struct rival){ .demand = demand_of(attack), .nice = s->nice } :
			(struct rival){ .demand = victims[s->victim].demand, .user = i };
	for (u32 i = 0; i < c.nr; i++)
		c.rivals[i].preemptible = s->preempts;
	if (!honest)
		c.rivals[0].ways = attack->ways;
	contest_run(&c, &params, DURATION_NS);
	for (u32 i = 0; i < attackers; i++) {
		out.attacker_ns += (double)c.rivals[i].gpu_ns;
		out.owed_ns += (double)rival_debt(&c, &c.rivals[i]);
	}
	for (u32 i = attackers; i < c.nr; i++)
		out.victims_ns[i - attackers] = (double)c.rivals[i].gpu_ns;
	return out;
}

/* Of the device, as a program has it alone. */
static double wanted(struct demand d)
{
	u64 work = d.burst_ns ? d.burst_ns : d.kernel_ns;
	u64 rest = d.burst_ns ? d.pause_ns : d.gap_ns;

	return (double)work / (double)(work + rest);
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* By weight, and what the others do not want. */
static double fair_ns(const struct attack *attack, const struct setting *s)
{
	double weight = ptsp_nice_to_weight(s->nice) * processes_of(attack);
	double share = weight / (weight + ptsp_nice_to_weight(0) * (double)s->victims);
	double left = 1 - least(1 - share, wanted(victims[s->victim].demand) * s->victims);

	return least(left, wanted(demand_of(attack)) * processes_of(attack)) * (double)DURATION_NS;
}

/* One process that always has work is the same whatever it might do: it is looked at once. */
static struct outcome honest_outcome(const struct attack *attack, const struct setting *s)
{
	static struct outcome known[3][5][7][2][2];
	struct outcome *out = &known[s->victim][s->victims][s->nice + 3][s->sharing][s->preempts];

	if (attack->pauses || processes_of(attack) > 1)
		return contest_between(attack, true, s);
	if (!out->attacker_ns)
		*out = contest_between(attack, true, s);
	return *out;
}

static double gain_in(const struct attack *attack, const struct setting *s)
{
	struct outcome honest = honest_outcome(attack, s);
	struct outcome attacked = contest_between(attack, false, s);
	double fair = fair_ns(attack, s), had = attacked.attacker_ns, lost = 0;

	if (attack->owes)
		had -= attacked.owed_ns;
	for (u32 i = 0; i < s->victims; i++)
		if (attacked.victims_ns[i] < honest.victims_ns[i])
			lost += honest.victims_ns[i] - attacked.victims_ns[i];
	if (fair < honest.attacker_ns)
		fair = honest.attacker_ns;
	/* What nobody else has lost was left over. */
	return least(had - fair, lost) / honest.attacker_ns;
}

/* Equals go beside each other, and pauses are filled, only where unused time is shared. */
static bool is_of_use(const struct setting *s)
{
	u32 bit = victims[s->victim].bit;

	return s->sharing ? s->preempts || bit != HALVES : bit == HOGS && !s->preempts;
}

static bool is_bounded(const struct attack *attack, const struct setting *s)
{
	return attack->beside & victims[s->victim].bit;
}

static const char *place(const struct setting *s)
{
	static char text[160];

	snprintf(text, sizeof(text), "nice %d beside %u of nice 0 that %s, %s%s", s->nice,
		 s->victims, victims[s->victim].name, s->preempts ? "preempt" : "gate",
		 s->sharing ? "" : ", idle-sharing=off");
	return text;
}

/* The worst of what is bounded, or of the rest, for which there is no bound yet. */
static double worst_gain(const struct attack *attack, bool bounded)
{
	char where[160] = "";
	double worst = -1;

	for (u32 i = 0; i < 3 * 2 * 3 * 2 * 2; i++) {
		struct setting s = { i % 3, i / 3 % 2 ? 4 : 1, (int)(i / 6 % 3) * 3 - 3,
				     i / 18 % 2, i / 36 };
		double gain;

		if (!is_of_use(&s) || is_bounded(attack, &s) != bounded)
			continue;
		gain = gain_in(attack, &s);
		if (gain <= worst)
			continue;
		worst = gain;
		strcpy(where, place(&s));
	}
	if (worst > -1)
		print_message("# %s attack %s: gains %.5f, %s\n", bounded ? "bounded" : "open",
			      attack->name, worst, where);
	return worst;
}

static void test_gain(void **state)
{
	assert_true(worst_gain(*state, true) < BOUND);
	worst_gain(*state, false);
}

int main(void)
{
	struct CMUnitTest tests[NR_ATTACKS];

	for (u32 i = 0; i < NR_ATTACKS; i++)
		tests[i] = (struct CMUnitTest){ attacks[i].name, test_gain, NULL, NULL,
						(void *)&attacks[i] };
	return cmocka_run_group_tests_name("policy: attacks", tests, NULL, NULL);
}
