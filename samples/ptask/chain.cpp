// SPDX-License-Identifier: MIT
/*
 * The smallest graph that has a channel: A x B x C, by two tasks with the same kernel.
 *
 *	build/samples/chain MODULE
 *
 * MODULE is a file with the kernel "matmul" of tests/vgpu/programs/kernels.cu: what nvcc -cubin, -ptx or -fatbin makes
 * of it, or for the virtual GPU (LD_LIBRARY_PATH=build/vgpu, beside build/vgpu/vgpud) build/vgpu/kernels.so.
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 64;

void multiply(char **arguments)
{
    const char *module = arguments[0];
    Graph graph;
    auto matrix = Template::of<float>(n, n);
    std::vector ports = {in("a", matrix), in("b", matrix), out("c", matrix), constant("n", n)};
    Task &ab = graph.cuda("AxB", {module, "matmul"}, ports);
    Task &abc = graph.cuda("ABxC", {module, "matmul"}, ports);
    Input &a = graph.input(ab["a"]), &b = graph.input(ab["b"]), &c = graph.input(abc["b"]);
    graph.connect(ab["c"], abc["a"]);
    Output &product = graph.output(abc["c"]);
    graph.run();

    auto filled = [](float value) { return Datablock::of(std::vector<float>(n * n, value)); };
    a.push(filled(1));
    b.push(filled(2));
    c.push(filled(3));
    float found = product.pull<float>()[0], expected = 1.0f * 2 * 3 * n * n;
    std::printf("each element of A x B x C is %.0f, expected %.0f\n", found, expected);
    if (found != expected)
        throw Error("the product is wrong");
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 1,
                        "usage: chain MODULE\nMultiplies three matrices with the kernel \"matmul\" of MODULE.\n",
                        multiply);
}
