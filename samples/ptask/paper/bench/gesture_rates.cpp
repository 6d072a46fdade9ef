// SPDX-License-Identifier: MIT
/* Table 2: the gestural interface as fast as it can, and what a single frame takes. */
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/bench/pipes.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>

namespace ptsched::paper {

namespace {

constexpr double seconds_for_each = 0.5;
constexpr unsigned frames_at_once = 128;
/* There, more would only wait in front of the first program. */
constexpr unsigned frames_in_pipes = 32;

struct Found {
    double frames_per_second, latency;
};

/* Of the paper, for each variant. */
const char *paper_figures(const std::string &variant)
{
    if (variant == "host")
        return "20.2 fps, 36.6 ms";
    if (variant == "handcode")
        return "138 fps, 10.5 ms";
    if (variant == "modular")
        return "113 fps, 12.2 ms";
    if (variant == "pipes")
        return "90 fps, 14.4 ms";
    if (variant == "ptask")
        return "154 fps, 9.8 ms";
    return "";
}

/* The events of all variants, as the last program of the paper gives them to the system; here, to a file. */
class EventFile {
public:
    /* Throws Error if there cannot be one of that name, or a temporary one if that is empty. */
    explicit EventFile(const std::string &path)
        : path_(path), file_(path.empty() ? std::tmpfile() : std::fopen(path.c_str(), "w"), std::fclose)
    {
        if (!file_)
            fail();
    }

    void write(const Hand &hand) { std::fputs(line_of(hand).c_str(), file_.get()); }

    /* Throws Error unless all of them are in the file. */
    void close()
    {
        const bool failed = std::ferror(file_.get());
        if (std::fclose(file_.release()) || failed)
            fail();
    }

private:
    [[noreturn]] void fail() const
    {
        const std::string reason = std::strerror(errno);
        throw Error("cannot write the events to " + (path_.empty() ? "a temporary file" : path_) + ": " + reason);
    }

    std::string path_;
    std::unique_ptr<std::FILE, decltype(&std::fclose)> file_;
};

/* What Table 2 has besides the variants of all programs. */
std::optional<Found> measure_alone(const Bench &bench, Checked &checked, const std::string &name, unsigned many,
                                   const std::function<std::unique_ptr<Executor>()> &make)
{
    try {
        say_progress("gesture, " + name);
        auto executor = make();
        const double each = bench.times({executor.get()}, 1, seconds_for_each)[0];
        const double stream = many > 1 ? bench.times({executor.get()}, many, seconds_for_each)[0] : each;
        checked.check(*executor, name);
        return Found{1 / stream, each};
    } catch (const Error &error) {
        bench.report.fail("gesture, " + name + ": " + error.what());
        return {};
    }
}

/* By name; those that failed are not there. */
std::map<std::string, Found> measure(const Bench &bench, Checked &checked, const Scene &scene, const Deliver &deliver)
{
    const bool trial = bench.options.iterations;
    std::map<std::string, Found> found;
    auto alone = [&](const char *name, unsigned many, const std::function<std::unique_ptr<Executor>()> &make) {
        if (auto one = measure_alone(bench, checked, name, many, make))
            found[name] = *one;
    };

    say_progress("gesture, many frames at once");
    const auto stream = bench.times_of_variants(checked, trial ? 8 : frames_at_once, seconds_for_each);
    say_progress("gesture, frame by frame");
    const auto single = bench.times_of_variants(checked, 1, seconds_for_each);
    for (std::size_t i = 0; i < variants().size() && !stream.empty() && !single.empty(); i++)
        found[variants()[i].name] = {1 / stream[i], single[i]};
    /* A frame has all processors. */
    alone("host", 1, [&] { return make_gestures_on_host(scene, checked.workload()); });
    alone("pipes", trial ? 8 : frames_in_pipes, [&] { return make_pipes(bench.gpu, scene, deliver); });
    return found;
}

void record(const Bench &bench, const Workload &workload, const std::string &variant, const Found &found)
{
    const std::string name = "gesture/" + variant;
    double bytes = 0;
    for (const Value &value : workload.values)
        bytes += value.is_input() ? static_cast<double>(value.bytes()) : 0;
    std::printf("%-18s %10.0f %10.0f %10.3f   %s\n", variant.c_str(), found.frames_per_second,
                bytes * found.frames_per_second / 1e6, found.latency * 1e3, paper_figures(variant));
    bench.report.record(name + "_fps", found.frames_per_second, "frames/s", paper_figures(variant));
    bench.report.record(name + "_latency_ms", found.latency * 1e3, "ms", paper_figures(variant));
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
    try {
        EventFile events(bench.options.events);
        auto deliver = [&](const Hand &hand) { events.write(hand); };
        const Scene scene = scene_of(bench.options);
        Checked checked(gestures(scene, deliver));
        const auto found = measure(bench, checked, scene, deliver);

        std::printf("\nTable 2: the gestural interface, %s\n%-18s %10s %10s %10s   %s\n",
                    checked.workload().name.c_str(), "", "frames/s", "MB/s", "ms", "paper");
        for (const char *variant : {"host", "handcode", "best", "modular", "modular-threads", "pipes", "ptask"})
            if (found.count(variant))
                record(bench, checked.workload(), variant, found.at(variant));
        if (found.count("ptask")) {
            compare(bench, "handcode", "handcode", found.at("handcode"), found.at("ptask"));
            compare(bench, "best by hand", "hand", found.at("best"), found.at("ptask"));
        }
        std::fflush(stdout);
        events.close();
    } catch (const Error &error) {
        bench.report.fail(std::string("gesture: ") + error.what());
    }
}

} // namespace ptsched::paper
