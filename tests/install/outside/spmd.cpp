// SPDX-License-Identifier: MIT
/* A job on this machine's cores: twice the sum of some numbers. */
#include <ptsched/spmd.hpp>

#include <cstdio>
#include <vector>

int main()
{
    namespace spmd = ptsched::spmd;
    const std::vector<int> numbers{0, 1, 2, 3, 4, 5, 6};

    spmd::Job<int, long> job;
    job.input = spmd::Input::memory(std::span<const int>(numbers));
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for (const int number : block.as<int>())
            out(0, 2 * number);
    };
    job.cpu.combine = [](long &into, long value) { into += value; };
    spmd::Cluster cluster;
    const auto result = cluster.run(job);
    for (const auto [key, value] : result.pairs())
        std::printf("%ld\n", value);
    return 0;
}
