// SPDX-License-Identifier: MIT
/*
 * Graphs with kernels that nvcc has compiled into this program, that are in memory, and that include what comes with
 * CUDA. Fails if a result is wrong, or if what is cut short is not refused.
 */
#include <ptsched/ptask/graph.hpp>

#include <cstdio>
#include <fstream>

using namespace ptsched::ptask;

extern "C" __global__ void add_one(float *x, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

namespace {

constexpr unsigned n = 1000, runs = 20;
const auto vector = Template::of<float>(n);

std::string content(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.empty())
        throw Error("cannot read " + path);
    return text;
}

/* A task that adds 1 to what it is given at "x". */
void expect_one_more(const char *how, Graph &graph, Task &task)
{
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    graph.run();
    for (unsigned i = 0; i < runs; i++) {
        x.push(Datablock::of(std::vector<float>(n, static_cast<float>(i))));
        for (float found : y.pull<float>())
            if (found != static_cast<float>(i + 1))
                throw Error(std::string(how) + ": " + std::to_string(found) + ", not " + std::to_string(i + 1));
    }
    std::printf("%s: %u results are right\n", how, runs);
}

std::vector<PortOptions> one_more()
{
    return {inout("x", vector), constant("n", n)};
}

void of_this_program()
{
    const std::string program = content("/proc/self/exe");
    Graph from_file, from_memory, cut;
    expect_one_more("this program", from_file, from_file.cuda("add", {"/proc/self/exe", "add_one"}, one_more()));
    expect_one_more("this program in memory", from_memory,
                    from_memory.cuda_image("add", image_of(program, "add_one"), one_more()));
    try {
        cut.cuda_image("add", image_of(std::string_view(program).substr(0, program.size() / 2), "add_one"), one_more());
    } catch (const Error &error) {
        std::printf("refused: %s\n", error.what());
        return;
    }
    throw Error("half a program is not refused");
}

/* y += a x, with a = 1 and x = 1. */
void ptx_in_memory(const char *path)
{
    Graph graph;
    const auto ones = starting_with(sticky("ones", vector), Datablock::of(std::vector<float>(n, 1)));
    Task &task = graph.cuda_image("add", image_of(content(path), "multiply_add"),
                                  {inout("x", vector), ones, constant("a", 1.0f), constant("n", n)});
    expect_one_more("PTX in memory", graph, task);
}

void headers_of_cuda()
{
    const Source source{R"(
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include "one.h"
__global__ void add(float *x, unsigned n)
{
    const auto i = cooperative_groups::this_grid().thread_rank();
    if (i < n)
        x[i] += __half2float(__float2half(ONE));
})",
                        "add",
                        {},
                        {"-DFIRST=1", "--use_fast_math"},
                        {{"one.h", "#define ONE FIRST\n"}}};
    Graph graph;
    expect_one_more("headers that come with CUDA", graph, graph.cuda_source("add", source, one_more()));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: embedded PTX   (what nvcc -ptx makes of multiply_add.cu)\n");
        return 2;
    }
    try {
        of_this_program();
        ptx_in_memory(argv[1]);
        headers_of_cuda();
    } catch (const Error &error) {
        std::fprintf(stderr, "embedded: %s\n", error.what());
        return 1;
    }
    return 0;
}
