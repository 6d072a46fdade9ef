// SPDX-License-Identifier: MIT
// Table 2: the gestural interface as fast as it can, and what a single frame takes.
#include "bench.hpp"
#include "gestures.hpp"

#include <cstdio>
#include <memory>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.5;
constexpr unsigned width = 640, height = 480, frames_at_once = 128;

struct Found {
    double frames_per_second, latency;
};

/* Of the paper, for each variant. */
const char *paper_figures(const std::string &variant)
{
    if (variant == "handcode")
        return "138 fps, 10.5 ms";
    if (variant == "modular")
        return "113 fps, 12.2 ms";
    if (variant == "ptask")
        return "154 fps, 9.8 ms";
    return "";
}

Found record(const Bench &bench, const Workload &workload, const Variant &variant, double stream, double single)
{
    const std::string name = std::string("gesture/") + variant.name;
    const Found found{1 / stream, single};
    double bytes = 0;
    for (const Value &value : workload.values)
        bytes += value.is_input() ? static_cast<double>(value.bytes()) : 0;
    std::printf("%-18s %10.0f %10.0f %10.3f   %s\n", variant.name, found.frames_per_second,
                bytes * found.frames_per_second / 1e6, found.latency * 1e3, paper_figures(variant.name));
    std::fflush(stdout);
    bench.report.record(name + "_fps", found.frames_per_second, "frames/s", paper_figures(variant.name));
    bench.report.record(name + "_latency_ms", found.latency * 1e3, "ms", paper_figures(variant.name));
    return found;
}

void compare(const Bench &bench, const char *to, const char *name, const Found &other, const Found &ptask)
{
    double rate = ptask.frames_per_second / other.frames_per_second, latency = other.latency / ptask.latency;
    std::printf("ptask against %-10s %8.3f x the rate, %.3f x as soon\n", to, rate, latency);
    bench.report.record(std::string("gesture/against-") + name, rate, "times as fast", to);
    bench.report.record(std::string("gesture/latency-against-") + name, latency, "times as soon", to);
}

} // namespace

void gesture_rates(const Bench &bench)
{
    if (!bench.options.wants("gesture"))
        return;
    /* As the last program of the paper gives them to the system; here, to a file that goes with it. */
    std::unique_ptr<std::FILE, decltype(&std::fclose)> events(std::tmpfile(), std::fclose);
    if (!events) {
        bench.report.fail("gesture: cannot make a temporary file for the events");
        return;
    }
    unsigned part = bench.options.size ? width / bench.options.size : 1;
    Checked checked(gestures(Scene(width / part, height / part),
                             [&](const Hand &hand) { std::fputs(line_of(hand).c_str(), events.get()); }));
    std::map<std::string, Found> found;

    say_progress("gesture, many frames at once");
    const auto stream =
        bench.times_of_variants(checked, bench.options.iterations ? 8 : frames_at_once, seconds_for_each);
    say_progress("gesture, frame by frame");
    const auto single = bench.times_of_variants(checked, 1, seconds_for_each);
    if (stream.empty() || single.empty())
        return;
    std::printf("\nTable 2: the gestural interface, %s\n%-18s %10s %10s %10s   %s\n", checked.workload().name.c_str(),
                "", "frames/s", "MB/s", "ms", "paper");
    for (std::size_t i = 0; i < variants().size(); i++)
        found[variants()[i].name] = record(bench, checked.workload(), variants()[i], stream[i], single[i]);
    compare(bench, "handcode", "handcode", found["handcode"], found["ptask"]);
    compare(bench, "best by hand", "hand", found["best"], found["ptask"]);
}

} // namespace ptsched::paper
