// SPDX-License-Identifier: MIT
/*
 * OpenCL C, and a function of the host behind it: the dot product of two vectors, here the same ones, so that one input
 * leads to both ports. A device multiplies the elements, the host adds what comes out.
 *
 *	build/samples/opencl
 *
 * Any device of OpenCL will do; PoCL (Debian: pocl-opencl-icd) makes one of the processor.
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>

#include <numeric>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 1000;

const char *const source = R"(
__kernel void multiply(__global const float *x, __global const float *y, __global float *z, uint n)
{
    size_t i = get_global_id(0);
    if (i < n)
        z[i] = x[i] * y[i];
}
)";

void add(const Arguments &ports)
{
    auto *z = static_cast<const float *>(ports[0]);
    *static_cast<double *>(ports[1]) = std::accumulate(z, z + n, 0.0);
}

void dot_product(char **)
{
    Graph graph;
    auto vector = Template::of<float>(n);
    Task &products = graph.opencl("multiply", {source, "multiply"},
                                  {in("x", vector), in("y", vector), out("z", vector), constant("n", n)});
    Task &total = graph.host("add", add, {in("z", vector), out("sum", Template::of<double>(1))});
    Input &x = graph.input(products["x"]);
    graph.connect(x, products["y"]);
    graph.connect(products["z"], total["z"]);
    Output &sum = graph.output(total["sum"]);
    graph.run();

    std::vector<float> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    x.push(Datablock::of(std::span<const float>(numbers)));
    double found = sum.pull()->as<double>()[0], expected = n * (n + 1.0) * (2.0 * n + 1) / 6;
    std::printf("the squares of 1 to %u add up to %.0f, expected %.0f\n", n, found, expected);
    if (found != expected)
        throw Error("the sum is wrong");
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 0, "usage: opencl\nComputes a dot product with a kernel of OpenCL C.\n",
                        dot_product);
}
