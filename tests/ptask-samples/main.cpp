// SPDX-License-Identifier: MIT
/*
 * The examples of samples/ptask, as a user runs them: what they print, their exit status, and what they say when
 * something is wrong.
 */
#include "tests/preload/world.h"

namespace {

using nlohmann::json;

/* PoCL loses a part of what it has compiled with. */
std::string leaks_of_others()
{
    const fs::path list = scratch / "leaks";
    std::ofstream(list) << "leak:libpocl\n";
    return "print_suppressions=0:suppressions=" + list.string();
}

/* With the virtual GPU, and its compiler; what PoCL compiles is not left in the user's home. */
Environment environment()
{
    return {{"PTSCHED_VGPU_SOCKET", world->gpu_socket}, {"LD_LIBRARY_PATH", build / "vgpu"},
            {"PTSCHED_NVRTC", build / "vgpu/nvrtc.so"}, {"POCL_CACHE_DIR", scratch / "pocl"},
            {"PTSCHED_DEVICE_NODE", "/nonexistent"},    {"PTSCHED_SOCKET", world->broker_socket},
            {"LSAN_OPTIONS", leaks_of_others()}};
}

std::string example(const std::string &name)
{
    return build / "samples" / name;
}

std::string kernels()
{
    return build / "vgpu/kernels.so";
}

std::string content(const fs::path &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/* Until it has ended: with that exit status and these words on its outputs. */
void expect(Program &program, int status, const std::string &out, const std::string &err)
{
    const int ended = program.wait();
    const bool as_expected = WIFEXITED(ended) && WEXITSTATUS(ended) == status && program.out() == out &&
                             (err.empty() ? program.err().empty() : program.err().find(err) != std::string::npos);
    if (!CHECK(as_expected))
        std::printf("# status %d, not %d; it has said:\n%s%s# not:\n%s%s\n", ended, status << 8, program.out().c_str(),
                    program.err().c_str(), out.c_str(), err.c_str());
}

void expect(const std::vector<std::string> &words, int status, const std::string &out, const std::string &err = {},
            const Environment &changes = {})
{
    Environment with = changes;
    with.merge(environment());
    Program program(words, with, "example");
    expect(program, status, out, err);
}

/* Commands of a shell, which runs in the folder of the examples. */
void expect_shell(const std::string &commands, int status, const std::string &out, const std::string &err = {})
{
    expect({"/bin/bash", "-c", "cd " + (build / "samples").string() + " && " + commands}, status, out, err);
}

void chains()
{
    for (const char *name : {"chain", "chain-c"}) {
        expect({example(name), kernels()}, 0, "each element of A x B x C is 24576, expected 24576\n");
        expect({example(name), "/nonexistent"}, 1, "", "task AxB: module /nonexistent: CUDA_ERROR_FILE_NOT_FOUND");
    }
    expect({example("chain-c")}, 0, "each element of A x B x C is 24576, expected 24576\n");
    expect({example("chain-c"), "one", "two"}, 2, "", "usage: chain-c [MODULE]");
}

void opencl()
{
    expect({example("opencl")}, 0, "the squares of 1 to 1000 add up to 333833500, expected 333833500\n");
}

void source()
{
    expect({example("source")}, 0, "1 + 2 x 10 is 21, expected 21\n1 + 3 x 10 is 31, expected 31\n");
    expect({example("source")}, 1, "", "cannot be loaded (/nonexistent: cannot open",
           {{"PTSCHED_NVRTC", "/nonexistent"}});
}

void call()
{
    expect({example("call")}, 0, "by 0: 0 1 2 3 4 5 6 7\nby 3: 3 4 5 6 7 0 1 2\n");
}

/* What is for a real GPU (tests/gpu), with the module in place of PTX. */
void compiled_kernels()
{
    const std::string program = build / "gpu/compiled_graph", module = build / "vgpu/multiply_add.so";
    Program all({program, MULTIPLY_ADD, module}, environment(), "compiled");
    if (!CHECK(all.wait() == 0))
        std::printf("# %s", all.err().c_str());
    CHECK(all.out().starts_with("from source: 20 results are right\nrefused: "));
    CHECK(all.out().find("\nfrom PTX: 20 results are right\nrefused: ") != std::string::npos);
    Program none({program, MULTIPLY_ADD, "/nonexistent"}, environment(), "compiled");
    CHECK_EQ(WEXITSTATUS(none.wait()), 1);
    CHECK(none.err() == "compiled_graph: task sum: module /nonexistent: CUDA_ERROR_FILE_NOT_FOUND\n");
    expect({program, "/nonexistent", module}, 1, "", "cannot read /nonexistent");
}

void without_a_gpu()
{
    const Environment nothing = {{"PTSCHED_VGPU_SOCKET", scratch / "nothing"}};
    expect({example("source")}, 1, "", "task y += a x needs a GPU", nothing);
    expect({example("chain"), kernels()}, 1, "", "task AxB needs a GPU", nothing);
    expect({example("filter")}, 0,
           "6 readings, 3 outliers: -7 101 120.5\n3 readings, 0 outliers:\n1 readings, 1 outliers: -1\n"
           "sorted 2 times, left out 1 times\n",
           "", nothing);
}

/* How many rounds it takes depends on how a device rounds: more where there is more to do. */
void iterate()
{
    Program program({example("iterate")}, environment(), "iterate");
    CHECK_EQ(program.wait(), 0);
    CHECK(program.err().empty());
    unsigned less = 0, more = 0;
    CHECK_EQ(std::sscanf(program.out().c_str(),
                         "a rod from 0 to 1 is steady after %u rounds\na rod from 0 to 8 is steady after %u rounds\n",
                         &less, &more),
             2);
    CHECK(less > 1 && more > less);
}

void pipeline()
{
    expect_shell("printf 'b\\na' | ./pipe | sort", 0, "A\nB\n");
    expect_shell("./pipe </dev/null", 0, "");
    /* More than a block, and than a pipe holds. */
    expect_shell("yes abc | head -n 100000 | ./pipe | uniq -c | tr -d ' '", 0, "100000ABC\n");
    expect_shell("printf 'a\\377' | ./pipe", 1, "A\377", "pipe: the text is not ASCII");
    expect_shell("./pipe </", 1, "", "cannot be read: Is a directory");
    expect_shell("set -o pipefail; yes | ./pipe | head -n 1", 1, "Y\n", "cannot be written: Broken pipe");
}

void serve()
{
    const std::string socket = scratch / "squares", squares = "the squares of 1 to 8: 1 4 9 16 25 36 49 64\n";
    expect({example("serve"), "--client", socket}, 1, "", "no graph is served at " + socket);
    {
        Program server({example("serve"), socket}, environment(), "server");
        CHECK(server.await("serving x and y at " + socket + "\n"));
        expect({example("serve"), "--client", socket}, 0, squares);
        expect({example("serve"), "--client", socket}, 0, squares);
        expect({example("serve"), socket}, 1, "", "a graph cannot be served at " + socket);
        server.signal(SIGTERM);
        expect(server, 0, "serving x and y at " + socket + "\n", "");
    }
    CHECK(!fs::exists(socket));
}

/* Which tasks a timeline has, and how often each ran. */
std::map<std::string, unsigned> runs_in(const json &timeline)
{
    std::map<int, std::string> names;
    std::map<std::string, unsigned> runs;
    int tasks = 0;
    for (const auto &event : timeline.at("traceEvents")) {
        const bool is_name = event.at("ph") == "M";
        if (is_name && event.at("name") == "process_name" && event.at("args").at("name") == "tasks")
            tasks = event.at("pid");
        else if (is_name && event.at("pid") == tasks)
            names[event.at("tid")] = event.at("args").at("name");
        else if (!is_name && event.at("pid") == tasks)
            runs[names.at(event.at("tid"))]++;
    }
    return runs;
}

void picture()
{
    const fs::path dot = scratch / "graph.dot", timeline = scratch / "timeline.json";
    expect({example("picture"), dot, timeline}, 0,
           "10 sets; see: dot -Tsvg " + dot.string() + ", and https://ui.perfetto.dev for " + timeline.string() + "\n");
    const std::string drawn = content(dot);
    CHECK(drawn.starts_with("digraph ptask {\n") && drawn.ends_with("}\n"));
    const json parsed = json::parse(content(timeline), nullptr, false);
    if (!CHECK(parsed.is_object()))
        return;
    const auto runs = runs_in(parsed);
    CHECK_EQ(runs.size(), std::size_t{3});
    for (const auto &[task, count] : runs) {
        CHECK_EQ(count, 10u);
        CHECK(drawn.find("\n\t\"" + task + "\" [label=") != std::string::npos);
    }
    expect({example("picture"), "/nonexistent/graph.dot", timeline}, 1, "",
           "cannot write /nonexistent/graph.dot: No such file or directory");
}

void attach()
{
    const std::vector<std::string> words = {example("attach"), kernels(), "100"};
    Program scheduled(words, environment(), "example");
    /* Which says how far it is if it takes long. */
    CHECK_EQ(scheduled.wait(), 0);
    CHECK(scheduled.out() == "100 products are right\n");
    CHECK(scheduled.err().find("unscheduled") == std::string::npos);
    expect(words, 0, "100 products are right\n", "the graph runs unscheduled on", {{"PTSCHED_SOCKET", "/nonexistent"}});
    for (const char *count : {"0", "1x", ""})
        expect({example("attach"), kernels(), count}, 1, "", "COUNT is a number from 1 on, not " + std::string(count));
}

/* Of each example that there is. */
void arguments()
{
    std::istringstream names(EXAMPLES);
    for (std::string name; names >> name;) {
        Program help({example(name), "--help"}, environment(), "help");
        CHECK_EQ(help.wait(), 0);
        CHECK(help.out().starts_with("usage: " + name) && help.err().empty());
        expect({example(name), "--wrong"}, 2, "", "usage: " + name);
    }
    expect({example("filter"), "--wrong"}, 2, "", "filter: unknown option --wrong\n");
    expect({example("filter"), "one"}, 2, "", "filter: the number of arguments is 1, not 0\n");
    expect({example("serve"), "--client"}, 2, "", "serve: the number of arguments is 0, not 1\n");
}

} // namespace

int main(int argc, char **argv)
{
    return run_cases({{"A x B x C, in C++ and in C", chains},
                      {"OpenCL C", opencl},
                      {"CUDA source", source},
                      {"a task that is given the stream", call},
                      {"the check of compiled kernels on a real GPU", compiled_kernels},
                      {"without a GPU", without_a_gpu},
                      {"a loop until the result is good enough", iterate},
                      {"a graph in a pipeline", pipeline},
                      {"a graph that is served", serve},
                      {"a picture and a timeline", picture},
                      {"a graph that is attached", attach},
                      {"wrong arguments", arguments}},
                     argc, argv);
}
