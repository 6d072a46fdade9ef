// SPDX-License-Identifier: MIT
/* Cholesky's factorization by tiles: many steps of different length that depend on each other. */
#include "samples/tasks/cholesky/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned rows = 16384, tile = 1024;
};

std::vector<samples::NamedWay> ways(cholesky::Problem &problem, const cholesky::Steps &steps)
{
    return {{"hand", [&] { return cholesky::by_hand(problem, steps); }}};
}

void run(const Numbers &numbers, const samples::Settings &settings, samples::Report &report)
{
    if (!numbers.tile || numbers.rows % numbers.tile)
        throw Error("--rows must be a multiple of --tile");
    const samples::driver::Context context;
    const cholesky::Steps steps(settings);
    cholesky::Problem small({12, 4});
    samples::check_ways(ways(small, steps));
    if (settings.check)
        return;
    cholesky::Problem problem({numbers.tile, numbers.rows / numbers.tile});
    samples::measure_ways(settings, report, "cholesky", ways(problem, steps));
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    return samples::run_program(argc, argv, "tasks-cholesky", "Factors a matrix of doubles by tiles, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, settings, report); },
                                {{"--rows", &numbers.rows, "of the matrix, and columns"},
                                 {"--tile", &numbers.tile, "rows of a tile, and columns"}});
}
