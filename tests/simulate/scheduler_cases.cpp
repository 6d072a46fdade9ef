// SPDX-License-Identifier: MIT
/* The schedulers that the policy is compared with do what their authors say. */
#include "tests/simulate/simulate_test.hpp"
#include "tools/ptsim/scenario_kinds.hpp"

#include <cmath>

namespace simulate_test {
namespace {

using namespace ptsim;

double ratio(const Run &run, std::uint32_t a, std::uint32_t b)
{
    return static_cast<double>(run.gpu_ns(a)) / static_cast<double>(run.gpu_ns(b));
}

bool about(double value, double wanted, double tolerance)
{
    if (std::abs(value / wanted - 1) <= tolerance)
        return true;
    printf("# it is %f, not about %f\n", value, wanted);
    return false;
}

const std::vector<int> kNices = {-5, 0, 0, 3, 5, 10};

void test_round_robin()
{
    const Run run(hogs(kNices, 3 * kMs, 60 * kSecond), "round-robin");
    CHECK(run.jain() > 0.999);
    CHECK(run.worst_lag() > 100);
}

void test_lottery()
{
    const Run run(hogs(kNices, 3 * kMs, 1000 * kSecond), "lottery");
    CHECK(run.share_error() < 0.1);
    /* The draws are not those of the seed if another one gives the same. */
    const Run other(run.scenario, "lottery", 2);
    CHECK(run.gpu_ns(0) != other.gpu_ns(0));
}

/* A kernel of three quanta that cannot be taken off is paid for by fewer wins. */
void test_compensation()
{
    Scenario scenario = hogs({0, 0}, 10 * kMs, 1000 * kSecond);
    scenario.programs[0].kernel_ns = 90 * kMs;
    scenario.machine.preemptible = false;
    const Run run(scenario, "lottery");
    CHECK(about(ratio(run, 0, 1), 1, 0.1));
}

void test_stride()
{
    const Run run(hogs(kNices, 3 * kMs, 300 * kSecond), "stride");
    CHECK(run.share_error() < 0.02);
    CHECK(run.worst_lag() < kNices.size());
}

/* No lag is more than a slice and what stands still, wherever kernels can be taken off. */
void test_eevdf()
{
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        Scenario scenario = random_hogs(seed, 60 * kSecond);
        scenario.machine.preemptible = true;
        const Run run(scenario, "eevdf");
        const double standing = static_cast<double>(scenario.machine.handover_ns) / kMs / 30;
        if (!CHECK(run.worst_lag() <= 1 + standing))
            printf("# seed %lu: %.3f slices\n", static_cast<unsigned long>(seed), run.worst_lag());
    }
    const Run run(hogs(kNices, 3 * kMs, 300 * kSecond), "eevdf");
    CHECK(run.share_error() < 0.02);
}

/* Three levels of priority, a factor of 4 and one of 8 apart, whatever the nice values. */
void test_drm_fair()
{
    const Run run(hogs({-20, -1, 0, 9, 10, 19}, 2 * kMs, 300 * kSecond), "drm-fair");
    CHECK(about(ratio(run, 0, 1), 1, 0.01));
    CHECK(about(ratio(run, 1, 2), 4, 0.01));
    CHECK(about(ratio(run, 2, 3), 1, 0.01));
    CHECK(about(ratio(run, 3, 4), 8, 0.02));
    CHECK(about(ratio(run, 4, 5), 1, 0.02));
}

/* Whatever is drawn is drawn from the seed. */
void test_deterministic()
{
    for (const ScenarioKind &kind : scenario_kinds()) {
        if (kind.name != "important" && kind.name != "helios")
            continue;
        Scale scale;
        scale.entities = 20;
        scale.day = kMinute;
        Scenario scenario = make_scenario(kind, scale);
        scenario.duration = std::min(scenario.duration, 5 * kSecond);
        for (const SchedulerKind &scheduler : scheduler_kinds()) {
            const Result one = simulate(scenario, scheduler, 1);
            const Result two = simulate(scenario, scheduler, 1);
            CHECK_EQ(one.records.size(), two.records.size());
            for (std::size_t i = 0; i < one.records.size(); i++)
                if (!CHECK(one.records[i].value == two.records[i].value))
                    printf("# %s\n", one.records[i].name.c_str());
        }
    }
}

} // namespace

std::vector<tap::Case> scheduler_cases()
{
    return {
        {"round-robin: equal shares whatever the weights", test_round_robin},
        {"lottery: shares by weight in the long run", test_lottery},
        {"lottery: compensation tickets", test_compensation},
        {"stride: shares by weight", test_stride},
        {"EEVDF: no lag of more than a slice", test_eevdf},
        {"DRM fair: three levels of priority", test_drm_fair},
        {"the same seed gives the same figures", test_deterministic},
    };
}

} // namespace simulate_test
