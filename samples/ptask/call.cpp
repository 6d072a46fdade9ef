// SPDX-License-Identifier: MIT
/*
 * A task that gives the GPU its work itself: two copies that rotate an array, by a number that is pushed with it.
 *
 *	build/samples/call
 *
 * What it calls is the CUDA driver's, whose header is cuda.h in a toolkit. For a library, see cuda/cublas.cpp.
 */
#include "example.hpp"
#include "libptsched/cuda/cuda_abi.h"
#include <ptsched/ptask/typed.hpp>

using namespace ptsched::ptask;

namespace {

constexpr unsigned n = 8;

void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        throw Error("the driver says " + std::to_string(result));
}

CUdeviceptr address(const void *pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

/* It does not wait: the graph brings "x" before what the stream is given, and takes "y" after it. */
void rotate(StreamCall &call)
{
    const auto by = call.value<unsigned>(1);
    const int *x = call.at<const int>(0);
    int *y = call.at<int>(2);
    check(cuMemcpyDtoDAsync_v2(address(y), address(x + by), (n - by) * sizeof(int), call.stream()));
    if (by)
        check(cuMemcpyDtoDAsync_v2(address(y + n - by), address(x), by * sizeof(int), call.stream()));
}

void rotate_arrays(char **)
{
    Graph graph;
    Task &task =
        graph.cuda_call("rotate", rotate, {in<int>("x", n), by_value(in<unsigned>("by", 1)), out<int>("y", n)});
    InputOf<int> x = input<int>(graph, task["x"]);
    InputOf<unsigned> by = input<unsigned>(graph, task["by"]);
    OutputOf<int> y = output<int>(graph, task["y"]);
    graph.run();

    for (unsigned places : {0u, 3u}) {
        x.push({0, 1, 2, 3, 4, 5, 6, 7});
        by.push({places});
        const View<int> rotated = y.pull();
        std::printf("by %u:", places);
        for (unsigned i = 0; i < n; i++) {
            std::printf(" %d", rotated[i]);
            if (rotated[i] != static_cast<int>((i + places) % n))
                throw Error("that is wrong");
        }
        std::printf("\n");
    }
}

} // namespace

int main(int argc, char **argv)
{
    return example::run(argc, argv, 0, "usage: call\nRotates arrays on a GPU, by what a function gives a stream.\n",
                        rotate_arrays);
}
