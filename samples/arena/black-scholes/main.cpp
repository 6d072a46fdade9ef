// SPDX-License-Identifier: MIT
/* Options by Black and Scholes: much data goes back for little that is computed. */
#include "samples/arena/black-scholes/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned options = 1U << 24, days = 20;
};

void run(const Numbers &numbers, const samples::Variants &variants, const samples::Settings &settings,
         samples::Report &report)
{
    samples::check_and_measure_variants<black_scholes::Problem>(
        settings, report, variants, "black-scholes", SOURCE_LINES, black_scholes::Shape{1000, 3},
        black_scholes::Shape{numbers.options, settings.quick ? std::min(numbers.days, 5U) : numbers.days},
        [&](black_scholes::Problem &problem) -> std::vector<samples::NamedVariant> {
            return {
                {"hand", [&] { return black_scholes::by_hand(problem, settings.module); }},
                {"managed", [&] { return black_scholes::managed(problem, settings.module); }},
                {"owned", [&] { return black_scholes::by_arenas(problem, settings.module, samples::Handing::owned); }},
                {"shared",
                 [&] { return black_scholes::by_arenas(problem, settings.module, samples::Handing::shared); }}};
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Variants variants;
    return samples::run_program(argc, argv, "arena-black-scholes",
                                "Prices options day by day, on the first GPU; the host moves the market.",
                                [&](const auto &settings, auto &report) { run(numbers, variants, settings, report); },
                                {{"--options", &numbers.options, "to price each day"},
                                 {"--days", &numbers.days, "that the market moves"},
                                 variants.choice()});
}
