// SPDX-License-Identifier: MIT
/*
 * CUDA C++ as source: y += a x. "a" is a parameter by value that can be pushed anew.
 *
 *	build/samples/source
 *
 * NVRTC compiles it when the graph is made; Documentation/ptask.rst says what that needs. For the virtual GPU,
 * build/vgpu/nvrtc.so stands for it: PTSCHED_NVRTC names that.
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 1000;

const char *const text = R"(
__global__ void multiply_add(float *y, const float *x, float a, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
)";

void multiply_add(char **)
{
    Graph graph;
    auto vector = Template::of<float>(n);
    Task &task = graph.cuda_source("y += a x", {text, "multiply_add"},
                                   {inout("y", vector), in("x", vector), value("a", sizeof(float)), constant("n", n)});
    Input &y = graph.input(task["y"]), &x = graph.input(task["x"]), &a = graph.input(task["a"]);
    Output &sum = graph.output(task["y"]);
    graph.run();

    auto filled = [](float value) { return Datablock::of(std::vector<float>(n, value)); };
    for (float factor : {2.0f, 3.0f}) {
        a.push_value(factor);
        y.push(filled(1));
        x.push(filled(10));
        float found = sum.pull<float>()[n - 1], expected = 1 + factor * 10;
        std::printf("1 + %.0f x 10 is %.0f, expected %.0f\n", factor, found, expected);
        if (found != expected)
            throw Error("the sum is wrong");
    }
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 0, "usage: source\nCompiles a kernel of CUDA C++ and runs it.\n", multiply_add);
}
