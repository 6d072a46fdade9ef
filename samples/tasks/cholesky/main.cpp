// SPDX-License-Identifier: MIT
/* Cholesky's factorization by tiles: many steps of different length that depend on each other. */
#include "samples/tasks/cholesky/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned rows = 16384, tile = 1024, gpus = 1;
};

std::vector<samples::NamedWay> ways(cholesky::Problem &problem, const cholesky::Steps &steps,
                                    const samples::Modes &modes)
{
    std::vector<samples::NamedWay> all{{"hand", [&] { return cholesky::by_hand(problem, steps); }}};
    modes.add(all, [&](tasks::Memory memory) { return cholesky::by_tasks(problem, steps, memory, 1); });
    return all;
}

/* By tasks with copies alone. */
std::vector<samples::NamedWay> ways_on(cholesky::Problem &problem, const cholesky::Steps &steps, unsigned gpus)
{
    const auto on = [&problem, &steps](unsigned some) {
        return [&, some] { return cholesky::by_tasks(problem, steps, tasks::Memory::copied, some); };
    };
    return {{"gpus1", on(1)}, {"gpus" + std::to_string(gpus), on(gpus)}};
}

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.tile || numbers.rows % numbers.tile)
        throw Error("--rows must be a multiple of --tile");
    const samples::driver::Context context;
    const cholesky::Steps steps(settings);
    cholesky::Problem small({12, 4});
    samples::check_ways(ways(small, steps, modes));
    if (device::gpus().size() > 1)
        samples::check_ways(ways_on(small, steps, 2));
    if (settings.check)
        return;
    cholesky::Problem problem({numbers.tile, numbers.rows / numbers.tile});
    if (numbers.gpus > 1)
        samples::measure_ways(settings, report, "cholesky", ways_on(problem, steps, numbers.gpus));
    else
        samples::measure_ways(settings, report, "cholesky", ways(problem, steps, modes));
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Modes modes;
    return samples::run_program(
        argc, argv, "tasks-cholesky", "Factors a matrix of doubles by tiles, on the first GPU.",
        [&](const auto &settings, auto &report) { run(numbers, modes, settings, report); },
        {{"--rows", &numbers.rows, "of the matrix, and columns"},
         {"--tile", &numbers.tile, "rows of a tile, and columns"},
         {"--gpus", &numbers.gpus, "if there are several, tasks with copies on so many are compared with those on one"},
         modes.choice()});
}
