// SPDX-License-Identifier: MIT
/* A graph with a function of the host, in a program that has headers of its own by the same names. */
#include "device.hpp"
#include "options.hpp"
#include <ptsched/ptask/draw.hpp>
#include <ptsched/ptask/graph.hpp>
#include <ptsched/ptask/log.hpp>
#include <ptsched/ptask/remote.hpp>
#include <ptsched/ptask/server.hpp>
#include <ptsched/ptask/stream.hpp>
#include <ptsched/ptask/typed.hpp>

#include <iostream>

int main()
{
    namespace pt = ptsched::ptask;
    const Options options;
    const auto number = pt::Template::of<int>(1);

    pt::Graph graph;
    const auto multiply = [&](const pt::Arguments &at) {
        const int *from = at[0];
        int *to = at[1];
        *to = *from * options.factor;
    };
    pt::Task &task = graph.host("multiply", multiply, {pt::in("a", number), pt::out("b", number)});
    pt::Input &input = graph.input(task["a"]);
    pt::Output &output = graph.output(task["b"]);
    graph.run();
    input.push_value(Device().answer);
    std::cout << output.pull<int>()[0] << "\n";
    return pt::draw(graph).empty();
}
