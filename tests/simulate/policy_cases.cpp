// SPDX-License-Identifier: MIT
/* What the project's policy promises, and that a scheduler which does not keep it is found out. */
#include "tests/simulate/simulate_test.hpp"
#include "tools/ptsim/bound.hpp"
#include "tools/ptsim/scenario_kinds.hpp"

#include <cmath>

namespace simulate_test {
namespace {

using namespace ptsim;

constexpr auto kPolicies = {"weighted", "weighted-idle-off"};

/* How far the shares are from those of the weights, over what the bound on lag allows after this time. */
double share_over_bound(const Run &run)
{
    const std::vector<LagBound> bounds = lag_bounds(run.scenario);
    double weight = 0, device = 0, worst = 0;
    for (std::size_t i = 0; i < bounds.size(); i++) {
        weight += run.engine.tasks()[i].weight;
        device += static_cast<double>(run.engine.outcomes()[i].device_ns);
    }
    for (std::size_t i = 0; i < bounds.size(); i++) {
        const double off =
            static_cast<double>(run.engine.outcomes()[i].device_ns) - run.engine.tasks()[i].weight / weight * device;
        worst = std::max(worst, off > 0 ? off / bounds[i].ahead_ns : -off / bounds[i].behind_ns);
    }
    return worst;
}

void test_lag_is_bounded()
{
    for (const char *policy : kPolicies) {
        for (std::uint64_t seed = 1; seed <= 100; seed++) {
            const Run run(random_hogs(seed, 60 * kSecond), policy);
            if (!CHECK(run.over_bound() <= 1))
                printf("# %s, seed %lu: %.3f times the bound\n", policy, static_cast<unsigned long>(seed),
                       run.over_bound());
        }
    }
}

Scenario known(const std::string &name)
{
    for (const ScenarioKind &kind : scenario_kinds())
        if (kind.name == name)
            return make_scenario(kind, {});
    CHECK(!"a scenario of that name");
    return {};
}

/* A turn that others wait for, by a kernel that takes longer than its budget can grow. */
void test_long_kernels()
{
    for (const char *policy : kPolicies)
        CHECK(Run(known("long-kernels"), policy).over_bound() <= 1);
}

/* They spend more than they have earned and are gone: of what the others have, nobody gets more and more. */
void test_short_jobs()
{
    for (const char *policy : kPolicies)
        CHECK(Run(known("short-jobs"), policy).worst_lag() < 2);
}

void test_equal_shares()
{
    for (const char *policy : kPolicies)
        for (int n : {2, 3, 10, 100}) {
            const Run run(hogs(std::vector<int>(n, 0), 10 * kMs, n * kSecond), policy);
            if (!CHECK(run.jain() >= 0.99))
                printf("# %s, %d programs: %f\n", policy, n, run.jain());
        }
}

void test_shares_by_weight()
{
    for (const char *policy : kPolicies) {
        const Run run(hogs({-5, 0, 0, 3, 5, 10}, 3 * kMs, 300 * kSecond), policy);
        CHECK(share_over_bound(run) <= 1);
        CHECK(run.share_error() < 0.1);
    }
}

void test_fifo_is_found_out()
{
    const Run equals(hogs(std::vector<int>(10, 0), 10 * kMs, 10 * kSecond), "fifo");
    CHECK(equals.jain() < 0.5);
    CHECK(equals.over_bound() > 1);
    const Run by_weight(hogs({-5, 0, 0, 3, 5, 10}, 3 * kMs, 300 * kSecond), "fifo");
    CHECK(share_over_bound(by_weight) > 1);
}

/* Important programs keep their speed where kernels can be taken off, and without the policy they do not. */
void test_frames()
{
    const auto frames_at = [](const std::string &scheduler) {
        Scenario scenario = hogs({19, 19}, 40 * kMs, 20 * kSecond);
        scenario.programs.push_back(
            {.group = "frames", .nice = -20, .user = 2, .kernel_ns = kMs, .pattern = frames(20 * kMs, 5 * kMs)});
        const Run run(scenario, scheduler);
        std::vector<double> late;
        for (Ns latency : run.engine.outcomes()[2].latencies_ns)
            late.push_back(static_cast<double>(latency));
        return percentile(late, 0.99) / kMs;
    };
    CHECK(frames_at("weighted") < 6);
    CHECK(frames_at("round-robin") > 20);
}

/* A user does not get more by starting anew. */
void test_respawning()
{
    for (Ns work_ns : {5 * kMs, 25 * kMs, 50 * kMs}) {
        Scenario scenario = hogs({0}, kMs, 100 * kSecond);
        scenario.programs.push_back(
            {.group = "respawning", .user = 1, .kernel_ns = kMs, .pattern = respawning(work_ns)});
        const Run run(scenario, "weighted");
        CHECK(run.gpu_ns(1) < run.gpu_ns(0) + run.gpu_ns(0) / 50);
    }
}

/* A program that is alone, or alone with work, has all of the device. */
void test_alone()
{
    for (const SchedulerKind &kind : scheduler_kinds()) {
        Scenario scenario = hogs({0}, 3 * kMs, 10 * kSecond);
        scenario.programs.push_back(
            {.group = "job", .user = 1, .kernel_ns = kMs, .arrives = kSecond, .pattern = job(50 * kMs)});
        const Run run(scenario, kind.name);
        const Ns busy = run.gpu_ns(0) + run.gpu_ns(1);
        /* Who never comes to its end under FIFO waits behind the hog. */
        CHECK_EQ(run.gpu_ns(1), kind.name == "fifo" ? 0 : 50 * kMs);
        CHECK(busy + 100 * kMs > scenario.duration);
    }
}

} // namespace

std::vector<tap::Case> policy_cases()
{
    return {
        {"no lag of a program that always has work is beyond the bound", test_lag_is_bounded},
        {"kernels longer than a budget grows: no lag is beyond the bound", test_long_kernels},
        {"processes that end in debt: no lag grows", test_short_jobs},
        {"equal programs have equal shares", test_equal_shares},
        {"shares are those of the weights, within what the bound allows", test_shares_by_weight},
        {"first come, first served breaks all three", test_fifo_is_found_out},
        {"frames of an important program come in time beside hogs", test_frames},
        {"a user with a new process each time has no more than its share", test_respawning},
        {"what nobody else wants is not lost", test_alone},
    };
}

} // namespace simulate_test
