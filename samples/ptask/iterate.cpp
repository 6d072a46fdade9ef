// SPDX-License-Identifier: MIT
/*
 * A loop that ends when its result is good enough: the temperatures of a rod whose ends are kept as they are. Each
 * round, a kernel of OpenCL C makes each point the mean of its neighbours, and a function of the host judges how much
 * that has changed. How many rounds it takes depends on what was pushed.
 *
 *	build/samples/iterate
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>

#include <algorithm>
#include <cmath>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 17; /* points */
constexpr float enough = 1e-5f;

const char *const source = R"(
__kernel void relax(__global const float *x, __global float *y, __global float *change, uint n)
{
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    y[i] = i == 0 || i == n - 1 ? x[i] : (x[i - 1] + x[i + 1]) / 2;
    change[i] = fabs(y[i] - x[i]);
}
)";

void judge(const Arguments &ports)
{
    auto *change = static_cast<const float *>(ports[1]);
    ++*static_cast<unsigned *>(ports[2]);
    *static_cast<unsigned *>(ports[3]) = *std::max_element(change, change + n) > enough;
}

/* In the end, temperatures rise evenly. */
void expect_line(float first, float last, const View<float> &found)
{
    for (unsigned i = 0; i < n; i++)
        if (float right = first + (last - first) * i / (n - 1); !(std::fabs(found[i] - right) < 0.01f))
            throw Error("point " + std::to_string(i) + " is at " + std::to_string(found[i]) + ", expected " +
                        std::to_string(right));
}

void iterate(char **)
{
    Graph graph;
    auto rod = Template::of<float>(n);
    auto number = Template::of<unsigned>(1);
    Task &relaxes =
        graph.opencl("relax", {source, "relax"}, {in("x", rod), out("y", rod), out("change", rod), constant("n", n)});
    Task &judges =
        graph.host("judge", judge, {inout("x", rod), in("change", rod), inout("rounds", number), out("again", number)});
    graph.connect(relaxes["y"], judges["x"]);
    graph.connect(relaxes["change"], judges["change"]);
    graph.loop(judges["x"], relaxes["x"], judges["again"]);
    graph.loop(judges["rounds"], judges["rounds"], judges["again"]);
    Input &begin = graph.input(relaxes["x"]), &zero = graph.input(judges["rounds"]);
    Output &end = graph.output(judges["x"]), &rounds = graph.output(judges["rounds"]);
    graph.run();

    for (float last : {1.0f, 8.0f}) {
        std::vector<float> cold(n, 0);
        cold.back() = last;
        begin.push(Datablock::of(std::span<const float>(cold)));
        zero.push_value(0u);
        expect_line(0, last, end.pull<float>());
        std::printf("a rod from 0 to %g is steady after %u rounds\n", last, rounds.pull()->as<unsigned>()[0]);
    }
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 0, "usage: iterate\nFinds the temperatures of a rod, in a loop in a graph.\n",
                        iterate);
}
