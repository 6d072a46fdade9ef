// SPDX-License-Identifier: MIT
#include "tests/bench/arena/bench.hpp"

using namespace ptsched;
using namespace ptsched::bench_arena;

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "arena-coherence",
                                "Measures what it costs to keep the memories of host and GPU at one address coherent.",
                                [](const Settings &settings, Report &report) {
                                    measure_differences(settings, report);
                                    measure_hand_over(settings, report);
                                    measure_faults(settings, report);
                                });
}
