// SPDX-License-Identifier: MIT
/*
 * A graph that is a client of ptsched: it gives kernels to a GPU in its turns only, next to other processes by nice.
 * Where neither module nor broker is, it says so once and runs unscheduled; Attach::required would make that an error.
 *
 *	nice -n 19 build/samples/attach MODULE 100000 &
 *	build/samples/attach MODULE 100000 &
 *	ptsched top
 *
 * MODULE is as for chain.cpp.
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>

#include <algorithm>
#include <charconv>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 64;

unsigned number(const std::string &text)
{
    unsigned found = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
    if (error != std::errc() || end != text.data() + text.size() || !found)
        throw Error("COUNT is a number from 1 on, not " + text);
    return found;
}

void expect_product(Output &product)
{
    if (product.pull()->as<float>()[0] != 1.0f * 2 * n)
        throw Error("a product is wrong");
}

void multiply(char **arguments)
{
    const unsigned count = number(arguments[1]), ahead = 8;
    Graph graph({.attach = Attach::if_possible});
    auto matrix = Template::of<float>(n, n);
    Task &task = graph.cuda("AxB", {arguments[0], "matmul"},
                            {in("a", matrix), sticky("b", matrix), out("c", matrix), constant("n", n)});
    Input &a = graph.input(task["a"]), &b = graph.input(task["b"]);
    Output &product = graph.output(task["c"]);
    graph.run();

    auto filled = [](float value) { return Datablock::of(std::span<const float>(std::vector<float>(n * n, value))); };
    const DatablockPtr ones = filled(1);
    auto next = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    b.push(filled(2));
    for (unsigned i = 0; i < count; i++) {
        a.push(ones);
        if (i >= ahead)
            expect_product(product);
        if (std::chrono::steady_clock::now() < next)
            continue;
        std::fprintf(stderr, "%u of %u\n", i, count);
        next += std::chrono::seconds(1);
    }
    for (unsigned i = 0; i < std::min(count, ahead); i++)
        expect_product(product);
    std::printf("%u products are right\n", count);
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 2,
                        "usage: attach MODULE COUNT\n"
                        "Computes COUNT products with the kernel \"matmul\" of MODULE, scheduled by ptsched.\n",
                        multiply);
}
