// SPDX-License-Identifier: MIT
/* y += a x: as much is copied as it can be, and little computed. */
#include "samples/tasks/saxpy/problem.hpp"

using namespace ptsched;

namespace {

std::vector<samples::NamedWay> ways(saxpy::Problem &problem, const samples::Settings &settings)
{
    return {{"hand", [&] { return saxpy::by_hand(problem, settings.module); }}};
}

void run(unsigned block, const samples::Settings &settings, samples::Report &report)
{
    saxpy::Problem small({4096, 1024});
    samples::check_ways(ways(small, settings));
    if (settings.check)
        return;
    saxpy::Problem problem({std::size_t{1} << 28, std::size_t{block} << 20});
    samples::measure_ways(settings, report, "saxpy", ways(problem, settings));
}

} // namespace

int main(int argc, char **argv)
{
    unsigned block = 4;
    return samples::run_program(
        argc, argv, "tasks-saxpy", "Adds a multiple of a vector to another, on the first GPU.",
        [&](const auto &settings, auto &report) { run(block, settings, report); },
        {{"--block", &block, "of so many times 2^20 elements is copied and added at once: a power of 2 up to 256"}});
}
