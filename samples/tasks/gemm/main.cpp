// SPDX-License-Identifier: MIT
/* A product of matrices by tiles: much is computed, by cuBLAS, while others are copied. */
#include "samples/tasks/gemm/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned rows = 16384, tile = 2048, gpus = 1;
};

std::vector<samples::NamedWay> ways(gemm::Problem &problem, const gemm::Multiply &multiply, const samples::Modes &modes)
{
    std::vector<samples::NamedWay> all{{"hand", [&] { return gemm::by_hand(problem, multiply); }}};
    modes.add(all, [&](tasks::Memory memory) { return gemm::by_tasks(problem, multiply, memory, 1); });
    return all;
}

/* By tasks with copies alone. */
std::vector<samples::NamedWay> ways_on(gemm::Problem &problem, const gemm::Multiply &multiply, unsigned gpus)
{
    const auto on = [&problem, &multiply](unsigned some) {
        return [&, some] { return gemm::by_tasks(problem, multiply, tasks::Memory::copied, some); };
    };
    return {{"gpus1", on(1)}, {"gpus" + std::to_string(gpus), on(gpus)}};
}

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.tile || numbers.rows % numbers.tile)
        throw Error("--rows must be a multiple of --tile");
    const samples::driver::Context context;
    const gemm::Multiply multiply(settings);
    gemm::Problem small({12, 3});
    samples::check_ways(ways(small, multiply, modes));
    if (device::gpus().size() > 1)
        samples::check_ways(ways_on(small, multiply, 2));
    if (settings.check)
        return;
    gemm::Problem problem({numbers.tile, numbers.rows / numbers.tile});
    if (numbers.gpus > 1)
        samples::measure_ways(settings, report, "gemm", ways_on(problem, multiply, numbers.gpus));
    else
        samples::measure_ways(settings, report, "gemm", ways(problem, multiply, modes));
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Modes modes;
    return samples::run_program(
        argc, argv, "tasks-gemm", "Multiplies matrices of doubles by tiles, on the first GPU.",
        [&](const auto &settings, auto &report) { run(numbers, modes, settings, report); },
        {{"--rows", &numbers.rows, "of the matrices, and columns"},
         {"--tile", &numbers.tile, "rows of a tile, and columns"},
         {"--gpus", &numbers.gpus, "if there are several, tasks with copies on so many are compared with those on one"},
         modes.choice()});
}
