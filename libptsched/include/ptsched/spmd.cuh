/* SPDX-License-Identifier: MIT */
/*
 * A job's device functions (<ptsched/spmd.hpp>): a structure of the user's with types and functions, of which a kernel
 * is made. Job::gpu::kernels names its file and the kernel. For nvcc (C++20) and the virtual GPU.
 *
 *	struct Histogram {
 *		using Record = unsigned int;
 *		using Key = unsigned int;
 *		using Value = unsigned long long;
 *		using Combine = ptsched::spmd::Sum<unsigned long long>;
 *		static constexpr unsigned int keys = 256;
 *		static __device__ void map(const Record &record, const auto &, unsigned long long, auto &out)
 *		{
 *			out(record >> 24, 1);
 *		}
 *	};
 *	extern "C" __global__ void __launch_bounds__(256) histogram(ptsched::spmd::gpu::Launch launch)
 *	{
 *		ptsched::spmd::run<Histogram>(launch);
 *	}
 *
 * Key, Value	as the job has them; keys that are byte strings (spmd::Bytes): Text, which lies in the input.
 * Record	a record's type.
 * map		(const Record &, const auto &input, unsigned long long number, auto &out): called for each record, by one
 *		thread; its number is that in the input's records that the launch has. Pairs go to out(key, value).
 * map_block	(const auto &input, auto &out), in place of map(): called by all threads, for all records together.
 *		They divide these as they like, may meet by __syncthreads() and have shared memory of their own.
 * Combine	how values of a key come together: element by element, of which a value is made, in no certain order.
 *		Sum, Least, Most, or a type like them. Without it all pairs come home.
 * keys		keys are numbers below this: dense. Each block of threads has a value for each, in shared memory where
 *		they fit and map() is called, and those of blocks are combined in their order.
 * Parameters	the type at Input::parameters.
 * most_pairs	that a record usually has at most, of functions without Combine; 1 unless said.
 * threads	of a block; 256 unless said.
 *
 * Other keys with Combine, of up to 8 bytes or Text, go to tables by their hashes: a small one of each block of threads
 * in shared memory, and one of all. Maps may run again from the begin where there was not enough room: what they do is
 * to depend on nothing but their input. Blocks are one-dimensional.
 */
#ifndef PTSCHED_SPMD_CUH
#define PTSCHED_SPMD_CUH

#include <ptsched/spmd/gpu_combine.cuh>
#include <ptsched/spmd/gpu_out.cuh>

namespace ptsched::spmd {

namespace gpu {

template <typename F> __device__ void describe(const Launch &launch)
{
    if (blockIdx.x || threadIdx.x)
        return;
    constexpr unsigned int keys = dense_keys<F>(), pairs = most_pairs<F>(), threads = threads_of_block<F>();
    Traits traits{};
    traits.version = version;
    traits.way = way_of<F>;
    traits.is_text = is_text<typename F::Key>;
    traits.key_bytes = is_text<typename F::Key> ? sizeof(unsigned long long) : sizeof(typename F::Key);
    traits.value_bytes = sizeof(typename F::Value);
    traits.keys = keys;
    traits.most_pairs = pairs;
    traits.threads = threads;
    if constexpr (HasRecord<F>)
        traits.record_bytes = sizeof(typename F::Record);
    *launch.traits = traits;
}

template <typename F> __device__ void map(const Launch &launch)
{
    const Input<F> input(launch);
    Out<F> out(launch);
    out.begin();
    if constexpr (MapsBlocks<F>) {
        F::map_block(input, out);
    } else {
        for (unsigned long long i = thread_number(); i < input.records; i += thread_count())
            F::map(input[i], input, i, out);
    }
    out.end();
}

} // namespace gpu

/* All that a kernel does; by all of its threads. */
template <typename F> __device__ void run(const gpu::Launch &launch)
{
    switch (launch.step) {
    case gpu::Step::describe:
        gpu::describe<F>(launch);
        break;
    case gpu::Step::map:
        gpu::map<F>(launch);
        break;
    case gpu::Step::fold:
        if constexpr (gpu::way_of<F> == gpu::Way::dense)
            gpu::fold_rows<F>(launch);
        break;
    case gpu::Step::clear:
        if constexpr (gpu::way_of<F> == gpu::Way::table)
            gpu::clear_table<F>(launch);
        break;
    case gpu::Step::gather:
        if constexpr (gpu::way_of<F> == gpu::Way::table)
            gpu::gather_table<F>(launch);
        break;
    }
}

/*
 * Calls @function(text) for each of the byte strings between those for which @separates(char) says so: by all threads
 * of all blocks, each its own ones. For map_block() of input whose records end behind such a byte.
 */
template <typename Input, typename Separates, typename Function>
__device__ void each_token(const Input &input, const Separates &separates, const Function &function)
{
    constexpr unsigned long long piece = 32; /* bytes: tokens that begin there are a thread's */
    const char *const text = reinterpret_cast<const char *>(input.data);
    for (unsigned long long first = gpu::thread_number() * piece; first < input.bytes;
         first += gpu::thread_count() * piece) {
        const unsigned long long end = first + piece < input.bytes ? first + piece : input.bytes;
        bool is_begin = first == 0 || separates(text[first - 1]);
        for (unsigned long long at = first; at < end; at++) {
            const bool is_between = separates(text[at]);
            if (!is_between && is_begin) {
                unsigned long long behind = at + 1;
                while (behind < input.bytes && !separates(text[behind]))
                    behind++;
                function(Text{text + at, behind - at});
            }
            is_begin = is_between;
        }
    }
}

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_CUH */
