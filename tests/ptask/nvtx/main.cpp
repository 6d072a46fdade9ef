// SPDX-License-Identifier: MIT
/* What tools for NVIDIA's GPUs see of a graph: a range for each call of a function of the host, by the task's name. */
#include "tests/vgpu/tap.h"
#include <ptsched/ptask/graph.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace {

namespace pt = ptsched::ptask;

constexpr unsigned runs = 3;

void functions_have_ranges()
{
    const auto number = pt::Template::of<int>(1);
    {
        pt::Graph graph;
        auto twice = [](const pt::Arguments &at) { *static_cast<int *>(at[1]) = 2 * *static_cast<const int *>(at[0]); };
        pt::Task &task = graph.host("twice", twice, {pt::in("a", number), pt::out("b", number)});
        pt::Input &input = graph.input(task["a"]);
        pt::Output &output = graph.output(task["b"]);
        graph.run();
        for (int i = 0; i < static_cast<int>(runs); i++) {
            input.push_value(i);
            CHECK_EQ(output.pull<int>()[0], 2 * i);
        }
    }
    std::ifstream file(std::getenv("PTASK_NVTX_RANGES"));
    unsigned begun = 0, ended = 0;
    for (std::string line; std::getline(file, line);)
        (line == "end" ? ended : begun) += line == "end" || line == "twice";
    /* A range where it is given to the host, and one where it is called. */
    CHECK_EQ(begun, 2 * runs);
    CHECK_EQ(ended, begun);
}

} // namespace

int main(int, char **argv)
{
    const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe");
    const std::string tool = program.parent_path() / "ptask-nvtx-tool.so";
    const std::string ranges = "/tmp/ptask-nvtx." + std::to_string(getpid());
    if (!std::filesystem::exists(tool))
        return tap::run({{"functions have ranges", [] {}, "the CUDA toolkit with NVTX is not installed"}});
    /* It is looked for when a program starts. */
    if (!std::getenv("PTASK_NVTX_RANGES")) {
        setenv("NVTX_INJECTION64_PATH", tool.c_str(), 1);
        setenv("PTASK_NVTX_RANGES", ranges.c_str(), 1);
        execv(program.c_str(), argv);
        return 1;
    }
    const int failed = tap::run({{"functions have ranges", functions_have_ranges}});
    std::filesystem::remove(std::getenv("PTASK_NVTX_RANGES"));
    return failed;
}
