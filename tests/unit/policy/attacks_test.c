// SPDX-License-Identifier: MIT
/*
 * What a program gains by doing other than the library would: GPU time beyond its
 * fair share, at the cost of honest programs, as a part of what it has when it is
 * honest. For each attack the worst of many settings is printed, and bounded. Who
 * drains slowly is as one whose kernels are so long, which nobody can help where
 * they cannot be taken off: it gains what it has beyond that one.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/rivals.h"

#define BOUND		0.02
#define DURATION_NS	(60 * SECOND)

/* Who is attacked. */
enum { HOGS, HALVES, PAUSING };

static const struct demand hog = { .kernel_ns = 20 * MS };

static const struct {
	const char *name;
	struct demand demand;
} victims[] = {
	[HOGS] = { "always have work", { .kernel_ns = 20 * MS } },
	[HALVES] = { "leave half of their time idle", { .kernel_ns = MS, .gap_ns = MS } },
	[PAUSING] = { "pause", { .kernel_ns = 5 * MS, .burst_ns = 5 * MS, .pause_ns = 11 * MS } },
};

struct attack {
	const char *name;
	struct ways ways;
	u64 long_ns;	/* the honest one may have kernels of this length, too; 0: it has not */
	bool pauses;	/* else it always has work */
	bool owes;	/* what it owes in the end is not gained */
};

static const struct attack attacks[] = {
	{ .name = "reports-nothing", .ways = { .lies = true } },
	{ .name = "reports-too-much", .ways = { .lies = true, .reported_permille = 10000 } },
	{ .name = "pretends-idleness", .ways = { .lies = true, .reported_permille = 100 } },
	{ .name = "claims-long-handovers", .ways = { .claimed_handover_ns = 3600 * SECOND } },
	{ .name = "claims-no-handovers", .ways = { .claimed_handover_ns = 1 } },
	{ .name = "tells-no-drain", .ways = { .drained_at_once = true } },
	{ .name = "tells-no-drain-and-goes-on", .ways = { .drained_at_once = true, .defies_ns = 99 * MS }, },
	{ .name = "drains-in-20-ms", .ways = { .defies_ns = 20 * MS } },
	{ .name = "drains-in-99-ms", .ways = { .defies_ns = 99 * MS }, .long_ns = 129 * MS },
	{ .name = "drains-in-500-ms", .ways = { .defies_ns = 500 * MS } },
	{ .name = "never-drains", .ways = { .defies_ns = PTSP_NEVER }, .long_ns = 2 * DURATION_NS, .owes = true },
	{ .name = "keeps-an-idle-turn", .ways = { .keeps_ns = 99 * MS } },
	{ .name = "never-releases", .ways = { .keeps_ns = 1000 * SECOND } },
	{ .name = "reborn-after-each-turn", .ways = { .rebirth = REBORN_DRAINED } },
	{ .name = "reborn-in-its-turn", .ways = { .rebirth = REBORN_HOLDING } },
	{ .name = "forks-with-debt", .ways = { .rebirth = REBORN_FORKED } },
	{ .name = "one-after-another", .ways = { .life_ns = 5 * MS } },
	{ .name = "tries-in-a-loop", .ways = { .tries_ns = MS / 5 } },
	{ .name = "cancels-after-1-ms", .ways = { .waits_ns = MS } },
	{ .name = "cancels-after-20-ms", .ways = { .waits_ns = 20 * MS } },
	{ .name = "pauses-to-be-fresh", .ways = { .pauses_ns = 21 * MS / 10 } },
	{ .name = "above-without-end", .ways = { .above = true } },
	{ .name = "above-with-pauses", .ways = { .above = true }, .pauses = true },
	{ .name = "lighter-in-its-turn", .ways = { .renice = RENICE_HOLDING } },
	{ .name = "lighter-while-waiting", .ways = { .renice = RENICE_WAITING } },
	{ .name = "renices-often", .ways = { .renice = RENICE_OFTEN } },
	{ .name = "acts-for-another", .ways = { .acts_for = true } },
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
				      struct demand demand, const struct setting *s)
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
			(struct rival){ .demand = demand, .nice = s->nice } :
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
		return contest_between(attack, true, demand_of(attack), s);
	if (!out->attacker_ns)
		*out = contest_between(attack, true, demand_of(attack), s);
	return *out;
}

static double had(const struct attack *attack, const struct outcome *outcome)
{
	return outcome->attacker_ns - (attack->owes ? outcome->owed_ns : 0);
}

/* What it might have without doing wrong, at the most. */
static double rightful_ns(const struct attack *attack, const struct outcome *honest,
			  const struct setting *s)
{
	struct demand demand = { .kernel_ns = attack->long_ns, .indivisible = true };
	double most = fair_ns(attack, s);
	struct outcome slow;

	if (most < honest->attacker_ns)
		most = honest->attacker_ns;
	if (!attack->long_ns)
		return most;
	slow = contest_between(attack, true, demand, s);
	return most < had(attack, &slow) ? had(attack, &slow) : most;
}

static double gain_in(const struct attack *attack, const struct setting *s)
{
	struct outcome honest = honest_outcome(attack, s);
	struct outcome attacked = contest_between(attack, false, demand_of(attack), s);
	double more = had(attack, &attacked) - rightful_ns(attack, &honest, s), lost = 0;

	for (u32 i = 0; i < s->victims; i++)
		if (attacked.victims_ns[i] < honest.victims_ns[i])
			lost += honest.victims_ns[i] - attacked.victims_ns[i];
	/* What nobody else has lost was left over. */
	return least(more, lost) / honest.attacker_ns;
}

/* Equals go beside each other, and pauses are filled, only where unused time is shared. */
static bool is_of_use(const struct setting *s)
{
	return s->sharing ? s->preempts || s->victim != HALVES : s->victim == HOGS && !s->preempts;
}

static const char *place(const struct setting *s)
{
	static char text[160];

	snprintf(text, sizeof(text), "nice %d beside %u of nice 0 that %s, %s%s", s->nice,
		 s->victims, victims[s->victim].name, s->preempts ? "preempt" : "gate",
		 s->sharing ? "" : ", idle-sharing=off");
	return text;
}

static double worst_gain(const struct attack *attack)
{
	char where[160] = "";
	double worst = -1;

	for (u32 i = 0; i < 3 * 2 * 3 * 2 * 2; i++) {
		struct setting s = { i % 3, i / 3 % 2 ? 4 : 1, (int)(i / 6 % 3) * 3 - 3,
				     i / 18 % 2, i / 36 };
		double gain;

		if (!is_of_use(&s))
			continue;
		gain = gain_in(attack, &s);
		if (gain <= worst)
			continue;
		worst = gain;
		strcpy(where, place(&s));
	}
	print_message("# attack %s: gains %.5f, %s\n", attack->name, worst, where);
	return worst;
}

static void test_gain(void **state)
{
	assert_true(worst_gain(*state) < BOUND);
}

int main(void)
{
	struct CMUnitTest tests[NR_ATTACKS];

	for (u32 i = 0; i < NR_ATTACKS; i++)
		tests[i] = (struct CMUnitTest){ attacks[i].name, test_gain, NULL, NULL,
						(void *)&attacks[i] };
	return run_cases("policy: attacks", tests);
}
