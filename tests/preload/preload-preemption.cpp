// SPDX-License-Identifier: MIT
/*
 * Programs that are taken off the virtual GPU in the middle of their work, and put back. $PTSCHED_KILLS and
 * $PTSCHED_CYCLES say how often in the cases that repeat, for a longer run than that of "make check".
 */
#include "tests/preload/preemptible.h"

#include <cstdlib>
#include <sys/ptrace.h>
#include <sys/wait.h>

namespace {

/* A program with long kernels, and a heavier one with short ones beside it; what the first said and counted. */
struct LongBesideShort {
    std::string log, output;
    nlohmann::json stats;

    explicit LongBesideShort(const Environment &environment)
    {
        Program low(client({"spin", "0", "60000", "2"}), environment, "low", lighter);
        CHECK(low.await("started"));
        /* Each asks anew, after its linger time. */
        for (int i = 0; i < 5; i++) {
            Program high(client({"spin", "20", "500"}), environment, "high");
            CHECK_EQ(high.wait(), 0);
        }
        pid_t pid = low.pid();
        low.end_input();
        CHECK_EQ(low.wait(), 0);
        output = low.out();
        CHECK(output.find("spun") != std::string::npos);
        log = low.err();
        auto all = world->stats();
        CHECK_EQ(all.count(pid), std::size_t{1});
        stats = all[pid];
    }
    unsigned long preemptions() const { return stats.value("preemptions", 0ul); }
    bool says(const char *text) const
    {
        bool found = log.find(text) != std::string::npos;
        if (!found)
            std::printf("# not in the log: %s\n# %s\n", text, log.c_str());
        return found;
    }
};

void taken_off_in_the_middle()
{
    renew_world();
    LongBesideShort found(world->preemptible());
    CHECK(found.says("level preempt\n"));
    CHECK(found.preemptions() > 0);
    /* What the switch was tried with has been given back. */
    CHECK(found.output.find("taken by others 0\n") != std::string::npos);
    std::printf("# %lu preemptions\n", found.preemptions());
}

void lower_levels()
{
    renew_world();
    LongBesideShort slice(world->preemptible("slice")), gate(world->preemptible("gate"));
    CHECK(slice.says("level slice, since PTSCHED_LEVEL allows no more\n"));
    CHECK_EQ(slice.preemptions(), 0ul);
    CHECK(gate.says("level gate, since PTSCHED_LEVEL allows no more\n"));
    CHECK_EQ(gate.preemptions(), 0ul);
}

/* A trial whose own work completes late, since others had the CPU, takes that for the effect: then there is another. */
void no_effect()
{
    constexpr int most = 10;
    for (int i = 0; i < most; i++) {
        renew_world({"--switch-ignored"});
        LongBesideShort found(world->preemptible());
        if (found.says("level slice, since it has no effect\n")) {
            CHECK_EQ(found.preemptions(), 0ul);
            return;
        }
    }
    CHECK(!"that it has no effect is found out");
}

void fails_later()
{
    /* The first two are trials; so are they of the other program. */
    renew_world({"--switch-calls", "5"});
    LongBesideShort found(world->preemptible());
    CHECK(found.says("level preempt\n"));
    CHECK(found.says("level slice, since the driver answers 0x56\n"));
}

/* Seen when it is to be taken off, at the latest. */
void debugger_attached()
{
    renew_world();
    Program low(client({"spin", "0", "60000", "2"}), world->preemptible(), "low", lighter);
    CHECK(low.await("started"));
    CHECK_EQ(ptrace(PTRACE_SEIZE, low.pid(), nullptr, nullptr), 0l);
    for (int i = 0; i < 5; i++) {
        Program high(client({"spin", "20", "500"}), world->preemptible(), "high");
        CHECK_EQ(high.wait(), 0);
    }
    pid_t pid = low.pid();
    low.end_input();
    CHECK_EQ(low.wait(), 0);
    CHECK(low.err().find("level slice, since a debugger is attached\n") != std::string::npos);
    CHECK_EQ(world->stats()[pid].value("preemptions", 1ul), 0ul);
}

/* What was in the way goes, and the level is sought anew. */
void debugger_detached()
{
    renew_world();
    Program low(client({"spin", "0", "60000", "2"}), world->preemptible(), "low", lighter);
    CHECK(low.await("started"));
    CHECK_EQ(ptrace(PTRACE_SEIZE, low.pid(), nullptr, nullptr), 0l);
    Program high(client({"spin", "0", "500", "4"}), world->preemptible(), "high");
    until([&] { return low.err().find("level slice, since a debugger is attached\n") != std::string::npos; });
    CHECK_EQ(ptrace(PTRACE_INTERRUPT, low.pid(), nullptr, nullptr), 0l);
    CHECK_EQ(waitpid(low.pid(), nullptr, __WALL), low.pid());
    CHECK_EQ(ptrace(PTRACE_DETACH, low.pid(), nullptr, nullptr), 0l);
    until([&] { return !low.running() || low.err().find("level preempt\n") != std::string::npos; });
    for (Program *program : {&low, &high}) {
        program->end_input();
        CHECK_EQ(program->wait(), 0);
    }
}

/* It has said so. (Of the level gate it says so, too, until its channels are there.) */
bool is_never_taken_off(const Program &program)
{
    return program.err().find(": level slice, since") != std::string::npos;
}

/*
 * Until @low stands in the middle of a kernel of @kernel_us while @high gets on with its own; false if one ended, or
 * that can never be.
 */
bool await_off(const Program &low, const Program &high, std::uint64_t kernel_us)
{
    Program stat({build / "vgpu/vgpu-stat", "--until-off", std::to_string(low.pid()), "--kernel-us",
                  std::to_string(kernel_us), "--owners"},
                 world->bare(), "vgpu-stat");
    /* Closely: it may be off for some tens of milliseconds only. */
    while (stat.running() && !is_never_taken_off(low))
        poll(nullptr, 0, 1);
    return !stat.running() && stat.wait() == 0 && low.running() && high.running();
}

/* $@name, a number of repetitions; without it, @otherwise. */
unsigned long times(const char *name, unsigned long otherwise)
{
    const char *text = std::getenv(name);
    return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

void killed_while_off()
{
    renew_world();
    Program high(client({"spin", "0", "500", "4"}), world->preemptible(), "high");
    CHECK(high.await("started"));
    /* A trial may find nothing in its time where others have the CPU. */
    unsigned long in_vain = 0, most_in_vain = 10;
    for (unsigned long i = times("PTSCHED_KILLS", 10); i;) {
        Program low(client({"spin", "0", "60000", "2"}), world->preemptible(), "low", lighter);
        CHECK(low.await("started"));
        if (await_off(low, high, 60000)) {
            i--;
        } else if (!low.running() || !high.running() || in_vain++ == most_in_vain) {
            std::printf("# it said: %s\n", low.err().c_str());
            CHECK(!"a program ended, or is never taken off");
            return;
        }
        pid_t pid = low.pid();
        low.signal(SIGKILL);
        low.wait();
        until([&] { return owner(pid)["contexts"] == 0; });
    }
    high.end_input();
    CHECK_EQ(high.wait(), 0);
    Program after(client({"launches"}), world->preemptible(), "after");
    CHECK_EQ(after.wait(), 0);
}

void off_and_on_again()
{
    renew_world();
    unsigned long cycles = times("PTSCHED_CYCLES", 300);
    Program low(checked_client({"20000", "--depth", "2"}), world->preemptible(), "low", lighter);
    pid_t pid = low.pid();
    /* With pauses so long that it does not keep its turn in them. */
    Program high(checked_client({"100", "--think-us", "5000", "--count", std::to_string(cycles)}), world->preemptible(),
                 "high");
    pid_t high_pid = high.pid();
    CHECK_EQ(high.wait(), 0);
    low.signal(SIGTERM);
    CHECK_EQ(low.wait(), 0);
    auto preemptions = world->stats()[pid].value("preemptions", 0ul);
    auto ahead = world->stats()[high_pid].value("ahead", 0ul);
    std::printf("# %lu preemptions by %lu submissions, %lu of which went ahead\n", preemptions, cycles, ahead);
    CHECK(preemptions > 0);
    CHECK(ahead > 0);
    if (!preemptions)
        std::printf("# it said: %s\n", low.err().c_str());
}

/* Charges are estimates. */
bool is_about(double charged, double used)
{
    return charged > 0.7 * used && charged < 1.3 * used;
}

/*
 * Each kernel of the growing program is twice as long as the one before, so that nothing is known of it by those. One
 * that was never taken off, or while others had the CPU, which makes a switch as long as a kernel, is followed by
 * another: one that is charged for its pauses would be each time.
 */
void charged_for_all_but_the_pauses()
{
    constexpr int most = 10;
    renew_world();
    Program equal(client({"spin", "0", "500", "4"}), world->preemptible(), "equal");
    CHECK(equal.await("started"));
    bool right = false;
    for (int i = 0; i < most && !right; i++) {
        Program growing(client({"spin", "9", "1000", "2", "2"}), world->preemptible(), "growing");
        pid_t pid = growing.pid();
        CHECK_EQ(growing.wait(), 0);
        auto stats = world->stats()[pid];
        unsigned long preemptions = stats.value("preemptions", 0ul);
        double charged = stats.value("gpu_ns", 0.0), used = owner(pid).value("gpu_ns", 0.0);
        std::printf("# charged / used: %.3f of %.0f ms, %lu preemptions\n", charged / used, used / 1e6, preemptions);
        right = preemptions && is_about(charged, used);
    }
    CHECK(right);
    equal.end_input();
    CHECK_EQ(equal.wait(), 0);
}

/*
 * Of turns that are one kernel each and far apart, the first show that, and in later ones the lighter program stays on
 * the device. On a machine that is slow at the wrong time they seem to have pauses: then there is another try.
 */
void stays_on_the_device_below()
{
    constexpr int most = 20;
    renew_world();
    bool right = false;
    for (int i = 0; i < most && !right; i++) {
        Program low(client({"spin", "0", "60000", "2"}), world->preemptible(), "low", lighter);
        CHECK(low.await("started"));
        Program high(client({"spin", "60", "10000", "1", "1", "20"}), world->preemptible(), "high");
        pid_t pid = high.pid(), below = low.pid();
        CHECK_EQ(high.wait(), 0);
        low.end_input();
        CHECK_EQ(low.wait(), 0);
        auto stats = world->stats();
        unsigned long above = stats[pid].value("above", 0ul);
        double charged = stats[below].value("gpu_ns", 0.0), used = owner(below).value("gpu_ns", 0.0);
        std::printf("# above others in %lu of %lu turns; below: charged / used %.3f of %.0f ms, %lu preemptions\n",
                    above, stats[pid].value("turns", 0ul), charged / used, used / 1e6,
                    stats[below].value("preemptions", 0ul));
        right = above && is_about(charged, used);
    }
    CHECK(right);
}

} // namespace

/* With an argument: only the cases whose name contains it. */
int main(int argc, char **argv)
{
    if (!preload_sees_ioctl) {
        std::printf("1..0 # SKIP under the thread sanitizer a preloaded library does not see the driver's channels\n");
        return 0;
    }
    std::vector<tap::Case> cases = {
        {"work is taken off in the middle, and goes on", taken_off_in_the_middle},
        {"PTSCHED_LEVEL: nothing better than it says", lower_levels},
        {"a switch without effect is found out", no_effect},
        {"a switch that fails later is not used again", fails_later},
        {"a program with a debugger is not taken off, and says so", debugger_attached},
        {"the debugger is detached: what it was in the way of is tried again", debugger_detached},
        {"programs are killed while they are off: nothing of them stays", killed_while_off},
        {"off and on again, many times: every result is right", off_and_on_again},
        {"what is taken off again and again is charged for what it ran", charged_for_all_but_the_pauses},
        {"a lighter one stays on the device below turns of one kernel each", stays_on_the_device_below}};
    return run_cases(cases, argc, argv);
}
