// SPDX-License-Identifier: MIT
/* What waits for memory beside what computes: in one pool, one after another, and in two streams. */
#include "samples/pool/mixed/measure.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "pool-mixed",
                                "Multiplies a sparse matrix and prices options with a pool on the first GPU.",
                                [](const samples::Settings &settings, samples::Report &report) {
                                    device::Device &gpu = samples::first_gpu();
                                    if (settings.check)
                                        mixed::check(gpu, settings);
                                    else
                                        mixed::measure(gpu, settings, report);
                                });
}
