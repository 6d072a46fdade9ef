// SPDX-License-Identifier: MIT
// A x B x C as a graph of two tasks: usage: chain MODULE, a file with the kernel "matmul" of
// tests/vgpu/programs/kernels.cu.
#include "ptask.hpp"

#include <cstdio>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 64;

void multiply(const char *module)
{
    Graph graph;
    auto matrix = Template::of<float>(n, n);
    std::vector ports = {in("a", matrix), in("b", matrix), out("c", matrix), constant("n", n)};
    Task &ab = graph.cuda("AxB", {module, "matmul"}, ports);
    Task &abc = graph.cuda("ABxC", {module, "matmul"}, ports);
    Input &a = graph.input(ab["a"]), &b = graph.input(ab["b"]), &c = graph.input(abc["b"]);
    graph.connect(ab["c"], abc["a"]);
    Output &product = graph.output(abc["c"]);
    graph.run();

    auto filled = [](float value) { return Datablock::of(std::span<const float>(std::vector<float>(n * n, value))); };
    a.push(filled(1));
    b.push(filled(2));
    c.push(filled(3));
    float found = product.pull()->as<float>()[0], expected = 1.0f * 2 * 3 * n * n;
    std::printf("each element of A x B x C is %.0f, expected %.0f\n", found, expected);
    if (found != expected)
        throw Error("the product is wrong");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        std::fprintf(stderr, "usage: chain MODULE\nMultiplies three matrices with the kernel \"matmul\" of MODULE.\n");
        return argc == 2 ? 0 : 2;
    }
    try {
        multiply(argv[1]);
    } catch (const Error &error) {
        std::fprintf(stderr, "chain: %s\n", error.what());
        return 1;
    }
    return 0;
}
