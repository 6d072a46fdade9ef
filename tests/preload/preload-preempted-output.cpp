// SPDX-License-Identifier: MIT
/*
 * What a program prints while it is taken off the virtual GPU again and again, and put back, is what it prints alone.
 */
#include "tests/preload/preemptible.h"

namespace {

unsigned long all_preemptions()
{
    unsigned long sum = 0;
    for (const auto &[pid, stats] : world->stats())
        sum += stats.value("preemptions", 0ul);
    return sum;
}

/* What a program prints is the same however often it is taken off meanwhile. */
void same_output_preempted(const char *scenario)
{
    renew_world();
    Program bare(client({scenario}), world->bare(), "bare");
    CHECK_EQ(bare.wait(), 0);
    /* Between its kernels there must be time to put the other back on, also under a sanitizer on a busy machine. */
    Program high(checked_client({"300", "--think-us", "3000"}), world->preemptible(), "high");
    /* Before that it has no handler for SIGTERM. */
    until([&] { return !high.running() || !owner(high.pid()).is_null(); });
    Environment environment = world->preemptible();
    environment["PTSCHED_DRAIN_US"] = "0";
    /* As often as it takes to have been taken off, where that is possible. */
    const unsigned long wanted = preload_sees_ioctl ? 10 : 0;
    unsigned long found = 0;
    int i;
    for (i = 0; i < 200 && (!i || found < wanted); i++) {
        Program low(client({scenario}), environment, "low", lighter);
        CHECK_EQ(low.wait(), 0);
        CHECK(!low.out().empty() && low.out() == bare.out());
        found = all_preemptions();
    }
    std::printf("# %s: taken off %lu times in %d runs\n", scenario, found, i);
    if (preload_sees_ioctl)
        CHECK(found >= wanted);
    high.signal(SIGTERM);
    CHECK_EQ(high.wait(), 0);
}

} // namespace

/* With an argument: only the cases whose name contains it. */
int main(int argc, char **argv)
{
    std::vector<tap::Case> cases;
    for (const char *scenario : {"launches", "copies", "graphs", "threads", "forks", "execs", "lives"})
        cases.push_back({std::string("same output while somebody heavier comes and goes: ") + scenario,
                         [scenario] { same_output_preempted(scenario); }});
    return run_cases(cases, argc, argv);
}
