// SPDX-License-Identifier: MIT
/* K-means: the nearest centres on the device, and beside that where these move on the host. */
#include "samples/pool/kmeans/measure.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "pool-kmeans", "Finds clusters with a pool on the first GPU and the host.",
                                [](const samples::Settings &settings, samples::Report &report) {
                                    device::Device &gpu = samples::first_gpu();
                                    if (settings.check)
                                        kmeans::check(gpu, settings);
                                    else
                                        kmeans::measure(gpu, settings, report);
                                });
}
