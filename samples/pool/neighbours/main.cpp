// SPDX-License-Identifier: MIT
/* The T nearest neighbours of samples: products on the device, and beside them the selection on the host. */
#include "samples/pool/neighbours/measure.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "pool-neighbours",
                                "Finds nearest neighbours with a pool on the first GPU and the host.",
                                [](const samples::Settings &settings, samples::Report &report) {
                                    device::Device &gpu = samples::first_gpu();
                                    if (settings.check)
                                        neighbours::check(gpu, settings);
                                    else
                                        neighbours::measure(gpu, settings, report);
                                });
}
