// SPDX-License-Identifier: MIT
/* What a runtime writes of what it did: a timeline, a picture of what depended on what, and counters. */
#include "tests/tasks/cases.hpp"
#include "tests/trace_rows.hpp"
#include "tests/vgpu/refused.h"

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

namespace test {

namespace {

using namespace tasks;

/* A name for a file, which goes at the end. */
class File {
public:
    explicit File(const std::string &name) : path_("/tmp/tasks-" + std::to_string(getpid()) + "-" + name) {}
    ~File() { std::filesystem::remove(path_); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    const std::string &path() const { return path_; }
    std::string text() const
    {
        std::ostringstream text;
        text << std::ifstream(path_).rdbuf();
        return text.str();
    }

private:
    const std::string path_;
};

std::size_t count_of(const std::string &what, const std::string &text)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        count++;
    return count;
}

/* All events of threads of the host with that name. */
std::vector<nlohmann::json> spans_called(const std::string &name, const Rows &rows)
{
    std::vector<nlohmann::json> spans;
    for (const auto &[row, events] : rows)
        if (row.first == "host")
            for (const auto &event : events)
                if (event.at("name") == name)
                    spans.push_back(event);
    return spans;
}

void a_timeline()
{
    constexpr unsigned count = 100;
    File file("timeline");
    {
        Runtime tasks({.workers = 4, .timeline = file.path()});
        std::array<int, 4> x{};
        for (unsigned i = 0; i < count; i++)
            tasks.host(
                {"add \"one\""}, [](int *at) { ++*at; }, inout(x[i % x.size()]));
        tasks.host(
            {"outer"},
            [&] {
                tasks.host(
                    {"inner"}, [](int *at) { ++*at; }, inout(x[0]));
                tasks.wait();
            },
            weak_inout(x[0]));
        tasks.wait();
        tasks.wait(in(x));
    }
    const Rows rows = rows_in(file.text());
    std::vector<bool> seen(count + 1);
    for (const auto &span : spans_called("add \"one\"", rows)) {
        const unsigned task = span.at("args").at("task");
        CHECK(task && task <= count && !seen.at(task));
        seen.at(task) = true;
        CHECK(span.at("ph") == "X" && span.at("ts").get<double>() >= 0 && span.at("dur").get<double>() >= 0);
    }
    CHECK_EQ(spans_called("add \"one\"", rows).size(), count);
    CHECK_EQ(spans_called("outer", rows).size(), 1U);
    CHECK_EQ(spans_called("inner", rows).size(), 1U);
    /* That of the outer task, ours, and the destructor's. */
    CHECK_EQ(spans_called("wait", rows).size(), 3U);
    CHECK_EQ(spans_called("wait for a range", rows).size(), 1U);
}

/* In a row of a thread, what begins later ends no later, or begins when the other has ended. */
void spans_of_a_thread_nest()
{
    File file("nested");
    {
        Runtime tasks({.workers = 3, .timeline = file.path()});
        for (unsigned i = 0; i < 20; i++)
            tasks.host({"outer"}, [&] {
                for (unsigned j = 0; j < 5; j++)
                    tasks.host({"inner"}, [] {});
                tasks.wait();
            });
        tasks.wait();
    }
    std::size_t spans = 0;
    for (const auto &[row, events] : rows_in(file.text()))
        for (const auto &one : events)
            for (const auto &other : events) {
                const double begin = one.at("ts"), end = begin + one.at("dur").get<double>();
                const double from = other.at("ts"), to = from + other.at("dur").get<double>();
                CHECK(from < begin || from >= end - 0.001 || to <= end + 0.001);
                spans++;
            }
    CHECK(spans >= 120U * 120 / 4);
}

/* Threads of the program have rows of their own, for each runtime. */
void threads_of_the_program()
{
    File first_file("first"), second_file("second");
    {
        Runtime first({.workers = 1, .timeline = first_file.path()});
        Runtime second({.workers = 1, .timeline = second_file.path()});
        const auto use = [&] {
            for (unsigned i = 0; i < 3; i++) {
                first.wait();
                second.wait();
            }
        };
        std::thread other(use);
        use();
        other.join();
    }
    for (const File *file : {&first_file, &second_file}) {
        std::size_t threads = 0;
        for (const auto &[row, events] : rows_in(file->text()))
            if (row.second.starts_with("thread")) {
                const auto waits =
                    std::ranges::count_if(events, [](const auto &event) { return event.at("name") == "wait"; });
                CHECK(waits >= 3);
                threads++;
            }
        CHECK_EQ(threads, 2U);
    }
}

void a_file_that_cannot_be()
{
    CHECK(
        refused([] { Runtime({.timeline = "/nowhere/at/all"}); }, {"Options::timeline", "/nowhere/at/all", "No such"}));
    CHECK(refused([] { Runtime({.graph = "/nowhere/at/all"}); }, {"Options::graph", "/nowhere/at/all", "No such"}));
}

void a_picture()
{
    File file("picture");
    std::array<int, 4> x{}, y{};
    {
        Runtime tasks({.workers = 2, .graph = file.path()});
        tasks.host(
            {"make \"x\""}, [](int *) {}, out(x));
        tasks.host(
            {"copy"}, [](const int *, int *) {}, in(x), out(y));
        tasks.host(
            {"read"}, [](const int *) {}, in(x));
        tasks.host(
            {"change"}, [](int *) {}, inout(x));
        tasks.host({"other"}, [] {});
        tasks.wait();
    }
    const std::string text = file.text(), range = describe(in(x).range);
    CHECK(text.find("digraph tasks {") != std::string::npos && text.ends_with("}\n"));
    CHECK_EQ(count_of("t1 [label=\"make \\\"x\\\"\\n1, host\"];", text), 1U);
    CHECK_EQ(count_of("t5 [label=\"other\\n5, host\"];", text), 1U);
    for (const auto &[edge, mode] : {std::pair("t1 -> t2", "in"), std::pair("t1 -> t3", "in"),
                                     std::pair("t2 -> t4", "inout"), std::pair("t3 -> t4", "inout")})
        CHECK_EQ(count_of(std::string(edge) + " [label=\"" + mode + " " + range + "\"", text), 1U);
    CHECK_EQ(count_of(" -> ", text), 4U);
    CHECK_EQ(count_of("cut", text), 0U);
}

void a_picture_of_inner_ones()
{
    File file("inner");
    int x = 0;
    {
        Runtime tasks({.workers = 2, .graph = file.path()});
        tasks.host(
            {"before"}, [](int *at) { *at = 1; }, out(x));
        tasks.host(
            {"outer"},
            [&] {
                tasks.host(
                    {"inner"}, [](int *at) { ++*at; }, inout(x));
            },
            weak_inout(x));
        tasks.wait();
    }
    const std::string text = file.text();
    CHECK_EQ(x, 2);
    /* What the inner one waits for stands between. */
    CHECK_EQ(count_of("t3 [shape=point]", text), 1U);
    CHECK_EQ(count_of("t1 -> t3 [label=\"inout", text), 1U);
    CHECK_EQ(count_of("t2 -> t4 [style=dotted", text), 1U);
    CHECK_EQ(count_of("t3 -> t4 [label=\"inout", text), 1U);
}

void a_picture_is_cut()
{
    File file("cut");
    int x = 0;
    {
        Runtime tasks({.workers = 2, .graph = file.path()});
        for (unsigned i = 0; i < 2500; i++)
            tasks.host([](int *) {}, inout(x));
        tasks.wait();
    }
    const std::string text = file.text();
    CHECK_EQ(count_of("cut: 2000 of 2500 tasks, 1999 of 2499 edges", text), 1U);
    CHECK_EQ(count_of(" -> ", text), 1999U);
}

/* What NVTX loads in place of a tool, when a program starts. */
std::filesystem::path nvtx_tool()
{
    return this_program().parent_path() / "ptask-nvtx-tool.so";
}

void functions_have_ranges()
{
    File ranges("ranges");
    const std::string command = "NVTX_INJECTION64_PATH=" + nvtx_tool().string() +
                                " PTASK_NVTX_RANGES=" + ranges.path() + " PTSCHED_CASE='seen: a timeline' " +
                                this_program().string() + " > /dev/null";
    CHECK_EQ(std::system(command.c_str()), 0);
    const std::string text = ranges.text();
    CHECK_EQ(count_of("add \"one\"\n", text), 100U);
    CHECK_EQ(count_of("outer\n", text), 1U);
    CHECK_EQ(count_of("inner\n", text), 1U);
    CHECK_EQ(count_of("end\n", text), 102U);
}

void a_timeline_of_gpus()
{
    constexpr unsigned n = 64, count = 5;
    File file("gpus");
    std::vector<float> a(n, 1), b(n, 2), c(n);
    {
        Runtime tasks({.workers = 2, .devices = {device::gpus().at(0)}, .streams = 2, .timeline = file.path()});
        const Kernel add = vector_add();
        for (unsigned i = 0; i < count; i++)
            tasks.kernel({"add"}, add, one_block, in(a), in(b), out(c), n);
        tasks.wait();
    }
    CHECK_EQ(c[n - 1], 3.0F);
    const Rows rows = rows_in(file.text());
    std::size_t streams = 0, spans = 0, bytes = 0;
    for (const auto &[row, events] : rows) {
        if (!row.second.starts_with("stream"))
            continue;
        streams++;
        double before = 0;
        for (const auto &event : events) {
            CHECK(event.at("name") == "add");
            CHECK(event.at("ts").get<double>() >= before - 0.001);
            before = event.at("ts").get<double>() + event.at("dur").get<double>();
            bytes += event.at("args").value("bytes", 0U);
            spans++;
        }
    }
    CHECK(streams >= 1);
    CHECK_EQ(spans, count);
    /* Of both, once. */
    CHECK_EQ(bytes, 2 * n * sizeof(float));
    /* The calls that give them work. */
    CHECK_EQ(spans_called("add", rows).size(), count);
}

void counters()
{
    Runtime tasks({.workers = 2});
    int x = 0;
    std::atomic<bool> goes{false};
    tasks.host([&](int *) { CHECK(comes_true([&] { return goes.load(); })); }, out(x));
    tasks.host([](int *) {}, inout(x));
    tasks.host([](const int *) {}, in(x));
    State state = tasks.state();
    CHECK_EQ(state.made, 3U);
    CHECK_EQ(state.edges, 2U);
    CHECK_EQ(state.live, 3U);
    CHECK_EQ(state.on_host, 0U);
    goes = true;
    tasks.wait();
    tasks.host(
        [&] {
            for (unsigned i = 0; i < 5; i++)
                tasks.host([](int *) {}, inout(x));
            tasks.wait();
        },
        weak_inout(x));
    tasks.wait();
    state = tasks.state();
    CHECK_EQ(state.made, 9U);
    CHECK_EQ(state.on_host, 9U);
    CHECK_EQ(state.live, 0U);
    CHECK_EQ(state.on_devices + state.stream_waits + state.bytes_to_devices + state.bytes_to_host, 0U);
}

/* Those inside others are live, too. */
void inner_ones_are_counted()
{
    Runtime tasks({.workers = 2});
    State inside, after;
    tasks.host([&] {
        tasks.host([] {});
        inside = tasks.state();
        tasks.wait();
        after = tasks.state();
    });
    tasks.wait();
    /* Who waits inside may go on before the one that has ended is counted as that. */
    CHECK(after.live == 1 || after.live == 2);
    CHECK_EQ(inside.made, 2U);
    CHECK(inside.live == 1 || inside.live == 2);
    CHECK_EQ(tasks.state().live, 0U);
}

} // namespace

std::vector<tap::Case> seen_cases()
{
    return {{"seen: a timeline", a_timeline},
            {"seen: spans of a thread nest", spans_of_a_thread_nest},
            {"seen: threads of the program have rows", threads_of_the_program},
            {"seen: a file that cannot be written is refused", a_file_that_cannot_be},
            {"seen: a picture of what depends on what", a_picture},
            {"seen: a picture of tasks inside others", a_picture_of_inner_ones},
            {"seen: a picture is cut", a_picture_is_cut},
            {"seen: functions have ranges of NVTX", functions_have_ranges,
             std::filesystem::exists(nvtx_tool()) ? "" : "the CUDA toolkit with NVTX is not installed"},
            {"seen: a timeline of GPUs", a_timeline_of_gpus},
            {"seen: counters", counters},
            {"seen: tasks inside others are counted", inner_ones_are_counted}};
}

} // namespace test
