// SPDX-License-Identifier: MIT
/*
 * Blocks whose size is computed, and work that is left out: the outliers of each set of readings, sorted. "count" says
 * how many there will be. That is the number of records that "select" gives, and "sort" does not run if it is 0.
 *
 *	build/samples/filter
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>

#include <algorithm>

using namespace ptsched::ptask;

namespace {

constexpr std::size_t most = 1000; /* readings in a set */

bool is_outlier(float reading)
{
    return reading < 0 || reading > 100;
}

template <typename T = const float> std::span<T> readings(const Call &call, std::size_t parameter)
{
    return {call.at<T>(parameter), call.records(parameter)};
}

void count(Call &call)
{
    *call.at<unsigned>(1) = static_cast<unsigned>(std::ranges::count_if(readings(call, 0), is_outlier));
}

/* Its output has room for as many as "records" says, which is no parameter, and is not counted. */
void select(Call &call)
{
    std::ranges::copy_if(readings(call, 0), call.at<float>(1), is_outlier);
}

void sort(Call &call)
{
    std::ranges::sort(readings<float>(call, 0));
}

void expect_outliers(const std::vector<float> &set, Input &input, Output &output)
{
    std::vector<float> expected;
    std::ranges::copy_if(set, std::back_inserter(expected), is_outlier);
    std::ranges::sort(expected);
    input.push(Datablock::of(set));
    const View<float> found = output.pull<float>();
    std::printf("%zu readings, %zu outliers:", set.size(), found.size());
    for (float reading : found)
        std::printf(" %g", reading);
    std::printf("\n");
    if (!std::ranges::equal(found, expected))
        throw Error("these are not the outliers");
}

void filter(char **)
{
    Graph graph;
    auto some = Template::variable<float>(most);
    Task &counts = graph.callback("count", count, {in("x", some), out("count", Template::of<unsigned>(1))});
    Task &selects =
        graph.callback("select", select, {in("x", some), metadata("records"), sized_by(out("y", some), "records")});
    Task &sorts = graph.callback("sort", sort, {inout("y", some), condition("any")});
    Input &x = graph.input(counts["x"]);
    graph.connect(x, selects["x"]);
    graph.connect(counts["count"], selects["records"]);
    graph.connect(counts["count"], sorts["any"]);
    graph.connect(selects["y"], sorts["y"]);
    Output &outliers = graph.output(sorts["y"]);
    graph.run();

    expect_outliers({20, 120.5, 31, -7, 25, 101}, x, outliers);
    expect_outliers({20, 30, 40}, x, outliers);
    expect_outliers({-1}, x, outliers);
    graph.stop();
    std::printf("sorted %d times, left out %d times\n", static_cast<int>(sorts.completed() - sorts.skipped()),
                static_cast<int>(sorts.skipped()));
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 0, "usage: filter\nPicks the outliers of some sets of readings.\n", filter);
}
