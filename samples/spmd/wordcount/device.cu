/* SPDX-License-Identifier: MIT */
#include <ptsched/spmd.cuh>

struct WordCount {
    using Key = ptsched::spmd::Text;
    using Value = unsigned long long;
    using Combine = ptsched::spmd::Sum<unsigned long long>;
    static __device__ bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
    static __device__ void map_block(const auto &input, auto &out)
    {
        ptsched::spmd::each_token(input, is_space, [&](const ptsched::spmd::Text &word) { out(word, 1); });
    }
};

extern "C" __global__ void __launch_bounds__(256) count_words(ptsched::spmd::gpu::Launch launch)
{
    ptsched::spmd::run<WordCount>(launch);
}
