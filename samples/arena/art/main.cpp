// SPDX-License-Identifier: MIT
/* Recognition of objects in images, which go one way, while what was found in them goes the other. */
#include "samples/arena/art/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned side = 2048, stride = 2, objects = 400, images = 20;
};

void run(const Numbers &numbers, const samples::Variants &variants, const samples::Settings &settings,
         samples::Report &report)
{
    if (numbers.side < art::side || !numbers.stride)
        throw Error("--side must be at least " + std::to_string(art::side) + ", and --stride not 0");
    samples::check_and_measure_variants<art::Problem>(
        settings, report, variants, "art", SOURCE_LINES, art::Shape{{64, 64, 16}, 6, 4},
        art::Shape{{numbers.side, numbers.side, numbers.stride},
                   numbers.objects,
                   settings.quick ? std::min(numbers.images, 5U) : numbers.images},
        [&](art::Problem &problem) -> std::vector<samples::NamedVariant> {
            return {{"hand", [&] { return art::by_hand(problem, settings.module); }},
                    {"managed", [&] { return art::managed(problem, settings.module); }},
                    {"owned", [&] { return art::by_arenas(problem, settings.module, samples::Handing::owned); }},
                    {"shared", [&] { return art::by_arenas(problem, settings.module, samples::Handing::shared); }}};
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Variants variants;
    return samples::run_program(argc, argv, "arena-art", "Finds and learns objects in images, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, variants, settings, report); },
                                {{"--side", &numbers.side, "pixels of an image"},
                                 {"--stride", &numbers.stride, "pixels from one window to the next"},
                                 {"--objects", &numbers.objects, "in an image"},
                                 {"--images", &numbers.images, "one after another"},
                                 variants.choice()});
}
