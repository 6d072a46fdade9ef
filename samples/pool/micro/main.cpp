// SPDX-License-Identifier: MIT
/* What it costs to give a device a task, beside what the CAGTP paper had. */
#include "samples/pool/micro/measure.hpp"

#include <cstdio>

using namespace ptsched;

namespace {

void run(const samples::Settings &settings, samples::Report &report)
{
    device::Device &gpu = samples::first_gpu();
    if (settings.check) {
        pool::bench::check(gpu, settings);
        return;
    }
    std::printf("pools on %s: median (least to most)\n", gpu.name().c_str());
    const double launch_ns = pool::bench::measure_launches(gpu, settings, report);
    pool::bench::measure_dispatch(gpu, settings, launch_ns, report);
    pool::bench::measure_round_trips(gpu, settings, report);
    pool::bench::measure_idle_bus(gpu, settings, report);
}

} // namespace

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "pool-micro",
                                "Measures what it costs to give a pool on the first GPU a task.", run);
}
