/* SPDX-License-Identifier: MIT */
/* A structure of functions for each way in which pairs are kept on a GPU. */
#include <ptsched/spmd.cuh>

namespace spmd = ptsched::spmd;

/* A thread has a stack on the host, of which a sanitizer keeps more: a block is no larger than it must be. */
struct FewThreads {
    static constexpr unsigned int threads = 64;
};

/* Dense keys, record by record, in shared memory. */
struct Histogram : FewThreads {
    using Record = unsigned int;
    using Key = unsigned int;
    using Value = unsigned long long;
    using Combine = spmd::Sum<unsigned long long>;
    static constexpr unsigned int keys = 16;
    static __device__ void map(const Record &record, const auto &, unsigned long long, auto &out)
    {
        out(record % 17, 1);
    }
};

extern "C" __global__ void histogram(spmd::gpu::Launch launch)
{
    spmd::run<Histogram>(launch);
}

/* Dense keys, whose threads share the elements of their block's values. */
struct Columns {
    static constexpr unsigned int columns = 4;
    struct Row {
        float of[columns];
    };
    using Record = Row;
    using Key = unsigned int;
    using Value = Row;
    using Parameters = float; /* what all are multiplied by */
    using Combine = spmd::Sum<float>;
    static constexpr unsigned int keys = 2; /* even and odd records */
    static __device__ void map_block(const auto &input, auto &out)
    {
        for (unsigned int key = 0; key < keys; key++)
            for (unsigned int column = threadIdx.x; column < columns; column += blockDim.x)
                for (unsigned long long i = blockIdx.x; i < input.records; i += gridDim.x)
                    if ((input.first + i) % 2 == key)
                        out.own(key).of[column] += input[i].of[column] * *input.parameters;
    }
};

extern "C" __global__ void columns(spmd::gpu::Launch launch)
{
    spmd::run<Columns>(launch);
}

/* A table of numbers. */
struct Squares : FewThreads {
    using Record = unsigned int;
    using Key = unsigned long long;
    using Value = unsigned int;
    using Combine = spmd::Most<unsigned int, 0>;
    static __device__ void map(const Record &record, const auto &, unsigned long long, auto &out)
    {
        const unsigned long long key = record % 3000;
        out(key == 2999 ? ~0ULL : key * key, record);
    }
};

extern "C" __global__ void squares(spmd::gpu::Launch launch)
{
    spmd::run<Squares>(launch);
}

/* A table of byte strings. */
struct Words : FewThreads {
    using Key = spmd::Text;
    using Value = unsigned long long;
    using Combine = spmd::Sum<unsigned long long>;
    static __device__ void map_block(const auto &input, auto &out)
    {
        spmd::each_token(
            input, [](char c) { return c == ' ' || c == '\n'; }, [&](const spmd::Text &word) { out(word, 1); });
    }
};

extern "C" __global__ void words(spmd::gpu::Launch launch)
{
    spmd::run<Words>(launch);
}

/* A list, with more pairs than are expected, of what cannot be combined element by element. */
struct Divisors : FewThreads {
    struct Pair {
        unsigned int number, divisor;
    };
    using Record = unsigned int;
    using Key = unsigned int;
    using Value = Pair;
    static __device__ void map(const Record &record, const auto &, unsigned long long, auto &out)
    {
        for (unsigned int i = 1; i <= 8; i++)
            if (record % i == 0)
                out(i, Pair{record, i});
    }
};

extern "C" __global__ void divisors(spmd::gpu::Launch launch)
{
    spmd::run<Divisors>(launch);
}

/* Records of any size. */
struct RowSums : FewThreads {
    using Key = unsigned long long;
    using Value = float;
    static __device__ void map_block(const auto &input, auto &out)
    {
        for (unsigned long long i = spmd::gpu::thread_number(); i < input.records; i += spmd::gpu::thread_count()) {
            const float *const row = reinterpret_cast<const float *>(input.data + i * input.record_bytes);
            float sum = 0;
            for (unsigned long long column = 0; column < input.record_bytes / sizeof(float); column++)
                sum += row[column];
            out(input.first + i, sum);
        }
    }
};

extern "C" __global__ void row_sums(spmd::gpu::Launch launch)
{
    spmd::run<RowSums>(launch);
}

/* Ends all. */
struct Wrong {
    using Record = unsigned int;
    using Key = unsigned int;
    using Value = unsigned int;
    static __device__ void map(const Record &, const auto &, unsigned long long, auto &) { __trap(); }
};

extern "C" __global__ void wrong(spmd::gpu::Launch launch)
{
    spmd::run<Wrong>(launch);
}

/* Not of device functions. */
extern "C" __global__ void no_functions(int *) {}
