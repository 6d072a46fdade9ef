// SPDX-License-Identifier: MIT
// Every program of the paper, small, in every variant on the virtual GPU and as a graph on what OpenCL shows: the
// results are right.
#include "gestures.hpp"
#include "programs.hpp"

#include "daemon.h"
#include "paper_test.hpp"
#include "pocl.h"

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

using namespace ptsched::paper;

namespace {

const Gpu &gpu()
{
    static const Gpu &found = *new Gpu(test::folder() + "/paper.so");
    return found;
}

/* Beside the programs that use them. */
std::string sample(const std::string &name)
{
    return test::folder() + "/../samples/" + name;
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
    auto executor = make_ptask(sample("paper.cl"), workload);
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
    CHECK_EQ(bitonic_sort(8).steps.size(), size_t{13});
    CHECK_EQ(bitonic_sort(512).steps.size(), size_t{37});
}

void cavities()
{
    check_all({cavity(2, 7, 6, 4)});
    CHECK_EQ(cavity(5, 4, 4, 4).steps.size(), size_t{30});
    CHECK_EQ(cavity(10, 4, 4, 4).steps.size(), size_t{60});
}

void principal_components()
{
    check_all({components(16, 3)});
    CHECK_EQ(components(8, 10).steps.size(), size_t{229});
    CHECK_EQ(components(8, 54).steps.size(), size_t{1197});
}

void groups()
{
    check_all({group_by(2 * 4096, 50), group_by(300, 7)});
    CHECK_EQ(group_by(4096, 8).steps.size(), size_t{7});
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

/* The program that measures, on little: the figures that it promises are there. */
void figures()
{
    std::string file = "/tmp/ptask-paper-XXXXXX";
    int fd = mkstemp(file.data());
    CHECK(fd >= 0);
    close(fd);
    const std::string events = file + ".events";
    /* Preloaded, so that the driver's variables of a thread do not come and go with the thread's stack, of which the
       thread sanitizer does not know when they are used again. */
    auto program = "LD_PRELOAD=" + test::folder() + "/libcuda.so.1 ASAN_OPTIONS=verify_asan_link_order=0 " +
                   sample("bench-ptask") + " --module " + test::folder() +
                   "/paper.so --iterations 1 --size 8 --only chain --only invocation --only table5/madd-rect --only "
                   "gesture --only copies --only prio --only gpus2 --json " +
                   file + " --events " + events + " >/dev/null";
    CHECK_EQ(std::system(program.c_str()), 0);
    std::set<std::string> names;
    std::ifstream stream(file);
    for (const auto &record : nlohmann::json::parse(stream)) {
        names.insert(record.at("name"));
        /* Frames can overlap, and what a GPU that is a process says of its time is not what it took. */
        const bool difference = record.at("name").get<std::string>().ends_with("_overhead_us");
        CHECK((difference || record.at("value").get<double>() >= 0) &&
              record.at("command").get<std::string>().find("--size 8") != std::string::npos);
        CHECK(record.at("unit").is_string() && record.at("against").is_string());
    }
    for (const char *name : {"chain8/nocopy_us",         "chain8/copies_us",
                             "chain8/against-hand",      "invocation/total_us",
                             "invocation/host_us",       "invocation/lowered_us",
                             "table5/geomean-hand",      "table5/geomean-modular",
                             "table5/worst-hand",        "gesture/against-handcode",
                             "gesture/against-hand",     "gesture/host_fps",
                             "gesture/host_latency_ms",  "gesture/pipes_fps",
                             "gesture/pipes_latency_ms", "copies/gpu_us",
                             "copies/HtoD/sync_us",      "copies/DtoH/async_us",
                             "copies/both/async-pp_us",  "copies/both/ptask_us",
                             "copies/against-hand",      "prio/8_per_s",
                             "prio/total-over-fifo",     "gpus2/depth6",
                             "gpus2/against-hand"})
        if (!CHECK(names.count(name)))
            std::printf("# %s is missing\n", name);
    std::ifstream lines(events);
    unsigned found = 0;
    for (std::string line; std::getline(lines, line); found++)
        CHECK(hand_of(line).area > 0);
    CHECK(found > 8 * variants().size());
    std::filesystem::remove(events);
    std::filesystem::remove(file);
    CHECK(std::system((sample("bench-ptask") + " --only nonsense 2>/dev/null").c_str()));
}

/* What bench-ptask says with these options, and its exit status after it. */
std::string said(const std::string &options)
{
    std::unique_ptr<std::FILE, decltype(&pclose)> program(
        popen((sample("bench-ptask") + " " + options + " 2>&1; echo exit $?").c_str(), "r"), pclose);
    std::string text;
    for (int c; program && (c = std::fgetc(program.get())) != EOF;)
        text += static_cast<char>(c);
    return text;
}

void says(const std::string &options, const std::vector<std::string> &words)
{
    const std::string text = said(options);
    for (const std::string &word : words)
        if (!CHECK(text.find(word) != std::string::npos))
            std::printf("# %s: \"%s\" is not in: %s\n", options.c_str(), word.c_str(), text.c_str());
}

/* As users do it who have no GPU. Kernels that compute something else are found out, and the others run. */
void opencl_by_itself()
{
    const std::string right_sum = "a[i] + b[i]";
    std::string wrong = "/tmp/ptask-paper-XXXXXX.cl";
    int fd = mkstemps(wrong.data(), 3);
    CHECK(fd >= 0);
    close(fd);
    std::ifstream stream(sample("paper.cl"));
    std::string text(std::istreambuf_iterator<char>(stream), {});
    const std::size_t sum = text.find(right_sum);
    CHECK(sum != std::string::npos);
    std::ofstream(wrong) << text.replace(sum, right_sum.size(), "a[i] - b[i]");

    says("--opencl --only chain --only table5/madd", {ptsched::device::opencl_devices().at(0)->name(), "chain64/copies",
                                                      "madd-tree", "madd-rect", "  ok", "exit 0"});
    says("--opencl --only table5/m --module " + wrong,
         {"table5/madd-tree: ", "result 0: element", "table5/mcopy-tree", "  ok", "exit 1"});
    std::filesystem::remove(wrong);
    says("--opencl --only prio", {"nothing was run", "exit 1"});
    says("--opencl --size 8", {"--only and --module", "exit 1"});
    says("--opencl --module " + test::folder() + "/paper.so", {"ends in .cl", "paper.so", "exit 1"});
    says("--opencl --module /nonexistent.cl", {"there is no /nonexistent.cl", "exit 1"});
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
    std::vector<tap::Case> cases{{"differences are found", differences_are_found},
                                 {"gemm, madd and mcopy as trees and rectangles", matrices},
                                 {"A x B x C, and steps that do nothing", chains},
                                 {"bitonic sort", sorting},
                                 {"fdtd", cavities},
                                 {"pca", principal_components},
                                 {"grpby", groups},
                                 {"the gestural interface", hands},
                                 {"copies of each direction", copies_of_each_direction},
                                 {"streams and graphs by hand", streams_and_graphs},
                                 {"the figures of bench-ptask", figures},
                                 {"bench-ptask with OpenCL alone", opencl_by_itself}};
    for (tap::Case &one : gesture_cases())
        cases.push_back(std::move(one));
    return tap::run(cases);
}
