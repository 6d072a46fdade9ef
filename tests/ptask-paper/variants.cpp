// SPDX-License-Identifier: MIT
/*
 * Every program of the paper, small, in every variant on the virtual GPU and as a graph on what OpenCL shows: the
 * results are right.
 */
#include "samples/ptask/paper/gestures.hpp"
#include "samples/ptask/paper/programs.hpp"
#include "tests/ptask-paper/paper_test.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/pocl.h"

#include <atomic>
#include <set>

using namespace ptsched::paper;

namespace {

const Gpu &gpu()
{
    static const Gpu &found = *new Gpu(test::folder() + "/paper.so");
    return found;
}

void results_are_right(Executor &executor, const Workload &workload, const std::string &who)
{
    if (!workload.expected)
        return;
    auto problem = difference(workload, workload.expected(executor.last_set()), executor.results());
    if (!CHECK(problem.empty()))
        std::printf("# %s, %s: %s\n", workload.name.c_str(), who.c_str(), problem.c_str());
}

/* One run, then several at once, whose last is of another set where there are some. */
void check_variant(Executor &executor, const Workload &workload, const std::string &who)
{
    for (unsigned count : {1, 6}) {
        executor.prepare(count);
        executor.run(count);
        results_are_right(executor, workload, who);
    }
}

void check_opencl(const Workload &workload)
{
    auto executor = make_ptask(test::sample("paper.cl"), workload);
    std::set<std::string> devices{ptsched::device::host().name()};
    for (const auto *device : ptsched::device::opencl_devices())
        devices.insert(device->name());
    check_variant(*executor, workload, "ptask with OpenCL");
    for (const auto &used : executor->counters())
        CHECK(devices.count(used.device));
}

void check_all(const std::vector<Workload> &workloads)
{
    for (const Workload &workload : workloads) {
        for (const Variant &variant : variants()) {
            if ((workload.inputs_stay || workload.results_stay) && std::string(variant.name).find("modular") == 0)
                continue;
            check_variant(*variant.make(gpu(), workload, 6), workload, variant.name);
        }
        check_opencl(workload);
    }
}

void matrices()
{
    for (Matrices kind : {Matrices::multiply, Matrices::add, Matrices::copy})
        check_all({tree(kind, 3, 20), rectangle(kind, 3, 4, 12)});
}

void chains()
{
    check_all({chain(16, true), chain(16, false), empty_steps(3, 4)});
}

void sorting()
{
    check_all({bitonic_sort(1), bitonic_sort(4)});
    CHECK_EQ(bitonic_sort(8).steps.size(), std::size_t{13});
    CHECK_EQ(bitonic_sort(512).steps.size(), std::size_t{37});
}

void cavities()
{
    check_all({cavity(2, 7, 6, 4)});
    CHECK_EQ(cavity(5, 4, 4, 4).steps.size(), std::size_t{30});
    CHECK_EQ(cavity(10, 4, 4, 4).steps.size(), std::size_t{60});
}

void principal_components()
{
    check_all({components(16, 3)});
    CHECK_EQ(components(8, 10).steps.size(), std::size_t{229});
    CHECK_EQ(components(8, 54).steps.size(), std::size_t{1197});
}

void groups()
{
    check_all({group_by(2 * 4096, 50), group_by(300, 7)});
    CHECK_EQ(group_by(4096, 8).steps.size(), std::size_t{7});
}

/* Several frames at once, so that one is not taken for another. */
void hands()
{
    std::atomic<unsigned> events = 0;
    const Scene scene(48, 40);
    Workload workload = gestures(scene, [&](const Hand &) { events++; });
    check_all({workload});
    check_variant(*make_gestures_on_host(scene, workload), workload, "host");
    auto first = workload.expected(0), last = workload.expected(3);
    CHECK(!difference(workload, first, last).empty());
    CHECK(events >= 7 * (variants().size() + 1));
}

/* Whether inputs come and results go or not, what is computed is the same. */
void copies_of_each_direction()
{
    for (bool inputs_stay : {false, true})
        for (bool results_stay : {false, true}) {
            Workload workload = transformation(Scene(24, 20));
            workload.inputs_stay = inputs_stay;
            workload.results_stay = results_stay;
            check_all({workload});
            for (Means means : {Means::in_turn, Means::ping_pong})
                check_variant(*make_best(gpu(), workload, 6, means), workload,
                              means == Means::in_turn ? "in turn" : "ping-pong");
        }
}

/* The ways from which the best is chosen, each by itself. */
void streams_and_graphs()
{
    Workload workload = rectangle(Matrices::add, 3, 3, 8);
    for (Means means : {Means::streams, Means::graph}) {
        auto executor = make_best(gpu(), workload, 6, means);
        check_variant(*executor, workload, executor->choice());
        CHECK_EQ(executor->choice().find("graph") != std::string::npos, means == Means::graph);
    }
}

/* A comparison that could not fail would prove nothing. */
void differences_are_found()
{
    Workload workload = rectangle(Matrices::add, 1, 2, 4);
    auto expected = workload.expected(0), got = expected;
    CHECK(difference(workload, expected, got).empty());
    auto values = floats_of(got[1]);
    values[3] += 0.01f;
    got[1] = content_of(values);
    CHECK(difference(workload, expected, got).find("result 1: element 3") == 0);
    got.pop_back();
    CHECK(!difference(workload, expected, got).empty());
}

} // namespace

int main()
{
    test::Daemon daemon;
    test::PoclCache cache;
    return tap::run({{"differences are found", differences_are_found},
                     {"gemm, madd and mcopy as trees and rectangles", matrices},
                     {"A x B x C, and steps that do nothing", chains},
                     {"bitonic sort", sorting},
                     {"fdtd", cavities},
                     {"pca", principal_components},
                     {"grpby", groups},
                     {"the gestural interface", hands},
                     {"copies of each direction", copies_of_each_direction},
                     {"streams and graphs by hand", streams_and_graphs}});
}
