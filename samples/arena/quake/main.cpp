// SPDX-License-Identifier: MIT
/* An earthquake: much that is linked, of which little goes from one side to the other between many steps. */
#include "samples/arena/quake/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned side = 80, times = 20, steps = 50;
};

void run(const Numbers &numbers, const samples::Variants &variants, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.side || !numbers.steps || numbers.steps > quake::most_steps)
        throw Error("--side must not be 0, and --steps from 1 to " + std::to_string(quake::most_steps));
    const quake::Shape full{numbers.side, numbers.times, numbers.steps};
    const quake::Shape quick{std::min(numbers.side, 40U), std::min(numbers.times, 4U), numbers.steps};
    samples::check_and_measure_variants<quake::Problem>(
        settings, report, variants, "quake", SOURCE_LINES, quake::Shape{3, 3, 5}, settings.quick ? quick : full,
        [&](quake::Problem &problem) -> std::vector<samples::NamedVariant> {
            return {{"hand", [&] { return quake::by_hand(problem, settings.module); }},
                    {"managed", [&] { return quake::managed(problem, settings.module); }},
                    {"owned", [&] { return quake::by_arenas(problem, settings.module, samples::Handing::owned); }},
                    {"shared", [&] { return quake::by_arenas(problem, settings.module, samples::Handing::shared); }}};
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Variants variants;
    return samples::run_program(argc, argv, "arena-quake", "Shakes the ground, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, variants, settings, report); },
                                {{"--side", &numbers.side, "cubes of six elements in a row"},
                                 {"--times", &numbers.times, "that the host reads what stations have recorded"},
                                 {"--steps", &numbers.steps, "between"},
                                 variants.choice()});
}
