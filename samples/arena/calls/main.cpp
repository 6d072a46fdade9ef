// SPDX-License-Identifier: MIT
/* What it costs to call a function of the GPU from the host, and of the host from the GPU, beside a launch. */
#include "samples/arena/calls/measure.hpp"

#include <cstdio>

using namespace ptsched;

namespace {

void run(const samples::Settings &settings, samples::Report &report)
{
    device::Device &gpu = samples::first_gpu();
    if (settings.check) {
        arena::bench::check(gpu, settings);
        return;
    }
    std::printf("calls to %s and back\n", gpu.name().c_str());
    arena::bench::measure_launches(gpu, settings, report);
    arena::bench::measure_latency(gpu, settings, report);
    arena::bench::measure_many(gpu, settings, report);
}

} // namespace

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "arena-calls",
                                "Measures what calls between the host and the first GPU cost.", run);
}
