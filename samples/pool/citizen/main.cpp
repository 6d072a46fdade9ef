// SPDX-License-Identifier: MIT
/* What a pool costs others on its GPU, and what it costs to be scheduled. Needs root, for nice -20. */
#include "samples/pool/citizen/measure.hpp"

#include <cstdio>

using namespace ptsched;

namespace {

void run(const samples::Settings &settings, samples::Report &report)
{
    device::Device &gpu = samples::first_gpu();
    std::vector<std::string> addresses;
    for (const device::Device *one : device::gpus())
        addresses.push_back(one->bus_address());
    pool::bench::Scheduler scheduler(addresses);
    const pool::bench::Size size = settings.check ? pool::bench::Size{2, 32} : pool::bench::Size{0, 128};
    const unsigned steps = settings.check ? 100 : pool::bench::steps_of_task(gpu, settings.module, 20);
    const pool::bench::Setup setup{settings, gpu, scheduler, size, steps};
    if (!settings.check)
        std::printf("a pool as a guest of %s: median (least to most)\n", gpu.name().c_str());
    pool::bench::measure_parks(setup, report);
    pool::bench::measure_loop(setup, true, report);
    pool::bench::measure_loop(setup, false, report);
    pool::bench::measure_attached(setup, report);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] != '-') {
        try {
            pool::bench::play_role({argv + 1, argv + argc});
        } catch (const std::exception &error) {
            std::fprintf(stderr, "pool-citizen %s: %s\n", argv[1], error.what());
            return 1;
        }
        return 0;
    }
    return samples::run_program(
        argc, argv, "pool-citizen",
        "Measures what a pool costs others on the first GPU, and what it costs to be scheduled.", run);
}
