// SPDX-License-Identifier: MIT
/* Fast Fourier transforms there and back, between which the host has the spectrum. */
#include "samples/arena/fft/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned log2 = 24, iterations = 10;
};

void run(const Numbers &numbers, const samples::Variants &variants, const samples::Settings &settings,
         samples::Report &report)
{
    if (numbers.log2 % 2 || numbers.log2 < 2 || numbers.log2 > 28)
        throw Error("--log2 must be even, and from 2 to 28");
    samples::check_and_measure_variants<fft::Problem>(
        settings, report, variants, "fft", SOURCE_LINES, fft::Shape{8, 2},
        fft::Shape{numbers.log2, settings.quick ? std::min(numbers.iterations, 3U) : numbers.iterations},
        [&](fft::Problem &problem) -> std::vector<samples::NamedVariant> {
            return {{"hand", [&] { return fft::by_hand(problem, settings.module); }},
                    {"managed", [&] { return fft::managed(problem, settings.module); }},
                    {"owned", [&] { return fft::by_arenas(problem, settings.module, samples::Handing::owned); }},
                    {"shared", [&] { return fft::by_arenas(problem, settings.module, samples::Handing::shared); }}};
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Variants variants;
    return samples::run_program(argc, argv, "arena-fft", "Finds missing samples of a signal, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, variants, settings, report); },
                                {{"--log2", &numbers.log2, "of the number of samples"},
                                 {"--iterations", &numbers.iterations, "transforms there and back"},
                                 variants.choice()});
}
