// SPDX-License-Identifier: MIT
/* A search that nobody can divide before, whose nodes cost what they will: by a pool, and by launches. */
#include "samples/pool/irregular/measure.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "pool-irregular",
                                "Searches an unbalanced tree with a pool on the first GPU.",
                                [](const samples::Settings &settings, samples::Report &report) {
                                    device::Device &gpu = samples::first_gpu();
                                    if (settings.check)
                                        irregular::check(gpu, settings);
                                    else
                                        irregular::measure(gpu, settings, report);
                                });
}
