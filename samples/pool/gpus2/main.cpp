// SPDX-License-Identifier: MIT
/* A large product on several GPUs (CAGTP, section 4.5): one pool of all of them, against each alone. */
#include "samples/pool/gpus2/measure.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    gpus2::Shape shape;
    return samples::run_program(
        argc, argv, "pool-gpus2", "A product of large matrices by one pool of several GPUs.",
        [&](const samples::Settings &settings, samples::Report &report) { gpus2::run(shape, settings, report); },
        {{"--gpus", &shape.gpus, "how many, the first ones"},
         {"--blocks", &shape.blocks, "on each; 0: one for each multiprocessor"},
         {"--depth", &shape.depth, "slots of a block"},
         {"--size", &shape.size, "rows and columns, a multiple of 128; 0: 4096 and 6144"}});
}
