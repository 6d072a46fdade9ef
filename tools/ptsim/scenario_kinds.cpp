// SPDX-License-Identifier: MIT
#include "tools/ptsim/scenario_kinds.hpp"

#include "tools/ptsim/random.hpp"
#include "tools/ptsim/traces.hpp"

#include <algorithm>

namespace ptsim {
namespace {

/* Each of @n equal programs has that many slices. */
constexpr std::uint32_t kRounds = 25;

Scenario equal(const Scale &scale, std::uint32_t n)
{
    Scenario scenario;
    for (std::uint32_t i = 0; i < n; i++)
        scenario.programs.push_back({.group = "hog", .user = i, .kernel_ns = 10 * kMs, .pattern = hog()});
    scenario.duration = std::max<Ns>(30 * kSecond, kRounds * n * (scale.machine.slice_ns + scale.machine.handover_ns));
    scenario.saturated = true;
    return scenario;
}

template <std::uint32_t n> Scenario equal_of(const Scale &scale)
{
    return equal(scale, n);
}

/* Nice -10 to 9, kernels of 0.1 to 20 ms. */
Scenario weights(const Scale &scale)
{
    Scenario scenario;
    Random random(scale.seed);
    for (int nice = -10; nice < 10; nice++) {
        const auto kernel_ns = static_cast<Ns>(std::min(random.lognormal(2 * kMs, 1.2), 20.0 * kMs));
        scenario.programs.push_back({.group = "hog",
                                     .nice = nice,
                                     .user = static_cast<std::uint32_t>(nice + 10),
                                     .kernel_ns = std::max(kernel_ns, kMs / 10),
                                     .pattern = hog()});
    }
    scenario.duration = 2000 * kSecond;
    scenario.saturated = true;
    return scenario;
}

Scenario weights_drained(const Scale &scale)
{
    Scenario scenario = weights(scale);
    scenario.machine.preemptible = false;
    return scenario;
}

/* Two light programs of which each owes about a slice most of the time: together more than the cap of the heavy one. */
Scenario long_kernels(const Scale &)
{
    Scenario scenario;
    const struct {
        int nice;
        Ns kernel_ns;
    } programs[] = {{-14, 28 * kMs}, {5, 1500 * kUs}, {5, 60 * kMs}};
    for (std::uint32_t i = 0; i < std::size(programs); i++)
        scenario.programs.push_back({.group = "hog",
                                     .nice = programs[i].nice,
                                     .user = i,
                                     .kernel_ns = programs[i].kernel_ns,
                                     .pattern = hog()});
    scenario.duration = 600 * kSecond;
    scenario.saturated = true;
    return scenario;
}

/* Frames at nice -20 and requests at -10 beside four hogs at 19. */
Scenario important(const Scale &scale)
{
    Scenario scenario;
    scenario.frame_period = 16667 * kUs;
    scenario.programs.push_back({.group = "frames",
                                 .nice = -20,
                                 .user = 0,
                                 .kernel_ns = kMs,
                                 .pattern = frames(scenario.frame_period, 4 * kMs)});
    scenario.programs.push_back({.group = "requests",
                                 .nice = -10,
                                 .user = 1,
                                 .kernel_ns = kMs,
                                 .pattern = requests(scale.seed, 20 * kMs, 2 * kMs)});
    for (std::uint32_t i = 0; i < 4; i++)
        scenario.programs.push_back(
            {.group = "hogs", .nice = 19, .user = 2 + i, .kernel_ns = (7 + 15 * i) * kMs, .pattern = hog()});
    scenario.latency_of = {"frames", "requests"};
    scenario.duration = 300 * kSecond;
    return scenario;
}

Scenario important_drained(const Scale &scale)
{
    Scenario scenario = important(scale);
    scenario.machine.preemptible = false;
    return scenario;
}

/* A hog at nice 5 comes to 100 at nice 0. */
Scenario newcomer(const Scale &scale)
{
    Scenario scenario = equal(scale, 100);
    scenario.saturated = false;
    scenario.programs.push_back({.group = "newcomer",
                                 .nice = 5,
                                 .user = 100,
                                 .kernel_ns = 10 * kMs,
                                 .arrives = 10 * kSecond,
                                 .pattern = hog()});
    scenario.newcomer = "newcomer";
    scenario.watched = {100, 0};
    scenario.duration = 1000 * kSecond;
    return scenario;
}

/*
 * Two hogs, nice 0 and 5, beside a stream of processes of other users, a little heavier, that each do 5 ms of work and
 * end. Late comes a hog that is lighter than all.
 */
Scenario short_jobs(const Scale &scale)
{
    Scenario scenario;
    Random random(scale.seed);
    scenario.duration = 600 * kSecond;
    scenario.programs = {
        {.group = "nice 0", .user = 0, .kernel_ns = kMs, .pattern = hog()},
        {.group = "nice 5", .nice = 5, .user = 1, .kernel_ns = kMs, .pattern = hog()},
        {.group = "late", .nice = 10, .user = 2, .kernel_ns = kMs, .arrives = scenario.duration / 2, .pattern = hog()},
    };
    double at = 0;
    for (std::uint32_t user = 3;; user++) {
        at += random.exponential(100.0 * kMs);
        if (at >= static_cast<double>(scenario.duration))
            break;
        scenario.programs.push_back({.group = "short",
                                     .nice = -1,
                                     .user = user,
                                     .kernel_ns = kMs,
                                     .arrives = static_cast<Ns>(at),
                                     .pattern = job(5 * kMs)});
    }
    scenario.share_of = {"nice 0", "nice 5"};
    scenario.newcomer = "late";
    scenario.latency_of = {"short"};
    scenario.watched = {0, 1, 2};
    return scenario;
}

/* A hog beside another user's processes, one after another, of which each ends before its slice does: equal weights. */
Scenario respawn(const Scale &)
{
    Scenario scenario;
    scenario.programs.push_back({.group = "steady", .user = 0, .kernel_ns = kMs, .pattern = hog()});
    scenario.programs.push_back({.group = "respawning", .user = 1, .kernel_ns = kMs, .pattern = respawning(25 * kMs)});
    scenario.share_of = {"steady", "respawning"};
    scenario.duration = 300 * kSecond;
    return scenario;
}

} // namespace

const std::vector<ScenarioKind> &scenario_kinds()
{
    static const std::vector<ScenarioKind> kinds = {
        {"equal-2", "2 equal programs", equal_of<2>},
        {"equal-10", "10 equal programs", equal_of<10>},
        {"equal-100", "100 equal programs", equal_of<100>},
        {"equal-1000", "1,000 equal programs", equal_of<1000>, 1000},
        {"equal-10000", "10,000 equal programs", equal_of<10000>, 10000},
        {"equal-100000", "100,000 equal programs", equal_of<100000>, 100000},
        {"weights", "nice -10 to 9", weights},
        {"weights-drained", "nice -10 to 9, kernels cannot be taken off", weights_drained},
        {"long-kernels", "nice -14 beside two at 5, kernels of 28, 1.5 and 60 ms", long_kernels},
        {"important", "frames and requests beside four hogs", important},
        {"important-drained", "the same, kernels cannot be taken off", important_drained},
        {"newcomer", "a hog at nice 5 comes to 100 at nice 0", newcomer},
        {"short-jobs", "hogs at nice 0 and 5 beside heavier processes that do 5 ms of work and end", short_jobs},
        {"respawn", "a hog beside another user's processes, one after another", respawn},
        {"philly", "jobs of which some are very long, as in Philly", philly},
        {"helios", "many short jobs and some long ones, as in Helios", helios},
        {"pai", "many short jobs, as in Alibaba's PAI", pai},
    };
    return kinds;
}

Scenario make_scenario(const ScenarioKind &kind, const Scale &scale)
{
    Scenario scenario = kind.make(scale);
    scenario.name = kind.name;
    scenario.title = kind.title;
    const bool preemptible = scenario.machine.preemptible;
    scenario.machine = scale.machine;
    scenario.machine.preemptible = scale.machine.preemptible && preemptible;
    return scenario;
}

} // namespace ptsim
