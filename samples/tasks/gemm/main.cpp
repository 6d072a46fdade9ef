// SPDX-License-Identifier: MIT
/* A product of matrices by tiles: much is computed, by cuBLAS, while others are copied. */
#include "samples/tasks/gemm/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned rows = 16384, tile = 2048;
};

std::vector<samples::NamedWay> ways(gemm::Problem &problem, const gemm::Multiply &multiply)
{
    return {{"hand", [&] { return gemm::by_hand(problem, multiply); }}};
}

void run(const Numbers &numbers, const samples::Settings &settings, samples::Report &report)
{
    if (!numbers.tile || numbers.rows % numbers.tile)
        throw Error("--rows must be a multiple of --tile");
    const samples::driver::Context context;
    const gemm::Multiply multiply(settings);
    gemm::Problem small({12, 3});
    samples::check_ways(ways(small, multiply));
    if (settings.check)
        return;
    gemm::Problem problem({numbers.tile, numbers.rows / numbers.tile});
    samples::measure_ways(settings, report, "gemm", ways(problem, multiply));
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    return samples::run_program(argc, argv, "tasks-gemm", "Multiplies matrices of doubles by tiles, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, settings, report); },
                                {{"--rows", &numbers.rows, "of the matrices, and columns"},
                                 {"--tile", &numbers.tile, "rows of a tile, and columns"}});
}
