// SPDX-License-Identifier: MIT
/* bench-ptask, as a user starts it, on little: what it says, and which figures it writes. */
#include "samples/ptask/paper/gestures.hpp"
#include "samples/ptask/paper/programs.hpp"
#include "tests/ptask-paper/paper_test.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/pocl.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

using namespace ptsched::paper;

namespace {

/* The program that measures, on little: the figures that it promises are there. */
void figures()
{
    std::string file = "/tmp/ptask-paper-XXXXXX";
    int fd = mkstemp(file.data());
    CHECK(fd >= 0);
    close(fd);
    const std::string events = file + ".events";
    /*
     * Preloaded, so that the driver's variables of a thread do not come and go with the thread's stack, of which the
     * thread sanitizer does not know when they are used again.
     */
    auto program = "LD_PRELOAD=" + test::folder() + "/libcuda.so.1 ASAN_OPTIONS=verify_asan_link_order=0 " +
                   test::sample("bench-ptask") + " --module " + test::folder() +
                   "/paper.so --iterations 1 --size 8 --only chain --only invocation --only table5/madd-rect --only "
                   "gesture --only copies --only prio --only gpus --json " +
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
    CHECK(std::system((test::sample("bench-ptask") + " --only nonsense 2>/dev/null").c_str()));
}

/* What bench-ptask says with these options, and its exit status after it. */
std::string said(const std::string &options)
{
    std::unique_ptr<std::FILE, decltype(&pclose)> program(
        popen((test::sample("bench-ptask") + " " + options + " 2>&1; echo exit $?").c_str(), "r"), pclose);
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
    std::ifstream stream(test::sample("paper.cl"));
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

} // namespace

int main()
{
    test::Daemon daemon;
    test::PoclCache cache;
    return tap::run({{"the figures of bench-ptask", figures}, {"bench-ptask with OpenCL alone", opencl_by_itself}});
}
