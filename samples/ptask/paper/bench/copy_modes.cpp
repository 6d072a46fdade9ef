// SPDX-License-Identifier: MIT
/* Fig. 3: what a frame of xform takes besides the GPU's execution, by how it is copied and in which directions. */
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/by_hand.hpp"

#include <algorithm>
#include <cstdio>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.3;
constexpr unsigned frames_at_once = 64, launches_at_once = 100, rounds = 9;

struct Direction {
    const char *name;
    bool to_device, to_host;
};
constexpr Direction directions[] = {{"HtoD", true, false}, {"DtoH", false, true}, {"both", true, true}};

const std::vector<Variant> &ways()
{
    static const std::vector<Variant> all{
        {"sync", [](const Gpu &gpu, const Workload &w, unsigned) { return make_handcode(gpu, w); }},
        {"async",
         [](const Gpu &gpu, const Workload &w, unsigned count) { return make_best(gpu, w, count, Means::in_turn); }},
        {"async-pp",
         [](const Gpu &gpu, const Workload &w, unsigned count) { return make_best(gpu, w, count, Means::ping_pong); }},
        variants().back(),
    };
    return all;
}

/* Seconds of one execution of the only step, without copies: many in a row, as the GPU's own clock has it. */
double execution_time(const Gpu &gpu, const Workload &workload, bool trial)
{
    const Buffers buffers(gpu, workload, Layout(workload));
    const Stream stream = make_stream();
    const Event begin = make_event(CU_EVENT_DEFAULT), end = make_event(CU_EVENT_DEFAULT);
    const unsigned launches = trial ? 4 : launches_at_once;
    const Value &input = workload.values.at(0);
    std::vector<double> times;

    check(driver().upload(buffers.at(0), input.contents[0].data(), input.bytes()), "cuMemcpyHtoD");
    for (unsigned round = 0; round < rounds; round++) {
        float milliseconds = 0;
        check(driver().event_record(begin.get(), stream.get()), "cuEventRecord");
        for (unsigned i = 0; i < launches; i++)
            buffers.launch(0, stream.get());
        check(driver().event_record(end.get(), stream.get()), "cuEventRecord");
        check(driver().stream_synchronize(stream.get()), "cuStreamSynchronize");
        check(driver().event_elapsed(&milliseconds, begin.get(), end.get()), "cuEventElapsedTime");
        times.push_back(static_cast<double>(milliseconds) * 1e-3 / launches);
    }
    return median(times);
}

/* Seconds of a frame, for each of ways(); empty if one failed, which is reported. */
std::vector<double> measure(const Bench &bench, const Direction &direction)
{
    Workload workload = transformation(scene_of(bench.options));
    workload.inputs_stay = !direction.to_device;
    workload.results_stay = !direction.to_host;
    Checked checked(std::move(workload));
    say_progress(std::string("copies of ") + checked.workload().name + ", " + direction.name);
    return bench.times(checked, ways(), bench.options.iterations ? 8 : frames_at_once, seconds_for_each);
}

void compare(const Bench &bench, double execution, const std::vector<std::vector<double>> &times)
{
    const double sync_both = times.back().at(0);
    double against_hand = 0;

    std::printf("\nFig. 3: xform, %u x %u, microseconds for each frame; and what they are in those of sync, both\n",
                scene_of(bench.options).filter.width, scene_of(bench.options).filter.height);
    std::printf("%-6s %-10s %10s %10s %10s %8s %8s %8s\n", "", "", "GPU", "overhead", "sum", "GPU", "overhead", "sum");
    for (std::size_t d = 0; d < std::size(directions); d++) {
        for (std::size_t w = 0; w < ways().size(); w++) {
            const double sum = times[d][w], overhead = sum - execution;
            const std::string name = std::string("copies/") + directions[d].name + "/" + ways()[w].name;
            std::printf("%-6s %-10s %10.1f %10.1f %10.1f %8.3f %8.3f %8.3f\n", directions[d].name, ways()[w].name,
                        execution * 1e6, overhead * 1e6, sum * 1e6, execution / sync_both, overhead / sync_both,
                        sum / sync_both);
            bench.report.record(name + "_us", sum * 1e6, "us for each frame", "sync, both");
            bench.report.record(name + "_overhead_us", overhead * 1e6, "us for each frame", "the GPU's execution");
        }
        const double hand = std::min({times[d][0], times[d][1], times[d][2]}) / times[d][3];
        against_hand = d ? std::min(against_hand, hand) : hand;
    }
    bench.report.record("copies/gpu_us", execution * 1e6, "us for each frame", "");
    bench.report.record("copies/against-hand", against_hand, "times as fast",
                        "the fastest by hand in the same direction; the lowest of the directions");
}

} // namespace

void copy_modes(const Bench &bench)
{
    if (!bench.options.wants("copies"))
        return;
    std::vector<std::vector<double>> times;
    for (const Direction &direction : directions) {
        times.push_back(measure(bench, direction));
        if (times.back().empty())
            return;
    }
    try {
        const Workload workload = transformation(scene_of(bench.options));
        compare(bench, execution_time(bench.gpu, workload, bench.options.iterations), times);
    } catch (const Error &error) {
        bench.report.fail(std::string("copies: ") + error.what());
    }
}

} // namespace ptsched::paper
