// SPDX-License-Identifier: MIT
/* A small world: physics and logic on the host, pictures by the GPU, and two scenes that change sides each time. */
#include "samples/arena/world/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned width = 1920, height = 1080, swarms = 80, in_each = 250, pictures = 60;
    std::string file;
};

void run(const Numbers &numbers, const samples::Variants &variants, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.width || !numbers.height || !numbers.swarms || !numbers.in_each || numbers.pictures < 2)
        throw Error("there must be a swarm, a thing in it, a pixel, and two --pictures");
    const unsigned pictures = settings.quick ? std::min(numbers.pictures, 10U) : numbers.pictures;
    samples::check_and_measure_variants<world::Problem>(
        settings, report, variants, "world", SOURCE_LINES,
        world::Shape{48, 32, 6, 5, 5, settings.check ? numbers.file : ""},
        world::Shape{numbers.width, numbers.height, numbers.swarms, numbers.in_each, pictures, numbers.file},
        [&](world::Problem &problem) -> std::vector<samples::NamedVariant> {
            return {{"hand", [&] { return world::by_hand(problem, settings.module); }},
                    {"managed", [&] { return world::managed(problem, settings.module); }},
                    {"owned", [&] { return world::by_arenas(problem, settings.module, samples::Handing::owned); }},
                    {"shared", [&] { return world::by_arenas(problem, settings.module, samples::Handing::shared); }}};
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Variants variants;
    return samples::run_program(argc, argv, "arena-world", "Draws a world that moves, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, variants, settings, report); },
                                {{"--width", &numbers.width, "pixels"},
                                 {"--height", &numbers.height, "pixels"},
                                 {"--swarms", &numbers.swarms, "of things"},
                                 {"--in-each", &numbers.in_each, "things of a swarm, at first"},
                                 {"--pictures", &numbers.pictures, "one after another"},
                                 {"--picture", nullptr, "a file for the last one (PPM)", {}, &numbers.file},
                                 variants.choice()});
}
