// SPDX-License-Identifier: MIT
/*
 * What a graph looks like, and what it did when: a picture in DOT, and a timeline for Perfetto.
 *
 *	build/samples/picture graph.dot timeline.json
 *	dot -Tsvg graph.dot >graph.svg
 *
 * https://ui.perfetto.dev and Chrome's about:tracing open timeline.json.
 */
#include "example.hpp"
#include <ptsched/ptask/draw.hpp>
#include <ptsched/ptask/graph.hpp>

#include <fstream>
#include <numeric>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 100000, sets = 10;

void sum(const Arguments &ports)
{
    const double *x = ports[0];
    double *sum = ports[1];
    *sum = std::accumulate(x, x + n, 0.0);
}

void sum_of_squares(const Arguments &ports)
{
    const double *x = ports[0];
    double *sum = ports[1];
    *sum = std::inner_product(x, x + n, x, 0.0);
}

void variance(const Arguments &ports)
{
    const double *sum = ports[0], *squares = ports[1], mean = *sum / n;
    double *result = ports[2];
    *result = *squares / n - mean * mean;
}

void write(const char *path, const std::string &text)
{
    std::ofstream file(path);
    if (!(file << text).flush())
        throw Error(std::string("cannot write ") + path + ": " + std::strerror(errno));
}

void take_pictures(char **arguments)
{
    Graph graph({.timeline = true});
    auto many = Template::of<double>(n), one = Template::of<double>(1);
    Task &sums = graph.host("sum", sum, {in("x", many), out("sum", one)});
    Task &squares = graph.host("sum of squares", sum_of_squares, {in("x", many), out("sum", one)});
    Task &result = graph.host("variance", variance, {in("sum", one), in("squares", one), out("variance", one)});
    Input &x = graph.input(sums["x"]);
    graph.connect(x, squares["x"]);
    graph.connect(sums["sum"], result["sum"]);
    graph.connect(squares["sum"], result["squares"]);
    Output &output = graph.output(result["variance"]);
    graph.run();

    /* Half of them 0 and half of them 2. */
    std::vector<double> values(n, 0);
    std::fill_n(values.begin(), n / 2, 2);
    DatablockPtr block = Datablock::of(std::span<const double>(values));
    for (unsigned i = 0; i < sets; i++)
        x.push(block);
    for (unsigned i = 0; i < sets; i++)
        if (double found = output.pull()->as<double>()[0]; found != 1)
            throw Error("the variance is " + std::to_string(found) + ", not 1");
    graph.stop();
    write(arguments[0], draw(graph));
    write(arguments[1], graph.timeline());
    std::printf("%u sets; see: dot -Tsvg %s, and https://ui.perfetto.dev for %s\n", sets, arguments[0], arguments[1]);
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 2,
                        "usage: picture GRAPH TIMELINE\n"
                        "Runs a graph, then writes its picture to GRAPH (DOT) and what ran when to TIMELINE (JSON).\n",
                        take_pictures);
}
