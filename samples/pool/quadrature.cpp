// SPDX-License-Identifier: MIT
/*
 * The integral of sin(1/x) + 1 from 0.001 to 1, in parts that are halved until each is exact enough. How many there
 * will be nobody knows before: what comes back says what is pushed next.
 *
 *	build/samples/quadrature MODULE
 *
 * MODULE is quadrature.cu as nvcc -cubin or -fatbin has compiled it, or for the virtual GPU
 * (LD_LIBRARY_PATH=build/vgpu, beside build/vgpu/vgpud) build/vgpu/quadrature.so.
 */
#include "quadrature.h"

#include <ptsched/pool.hpp>

#include <cmath>
#include <cstdio>

using namespace ptsched;

namespace {

constexpr double from = 0.001, to = 1, tolerance = 1e-9;

/* x sin(1/x) - Ci(1/x) is an integral of the first part, and 0.999 that of the second. */
constexpr double expected = 1.5030664979;

void integrate(const char *module)
{
    pool::Pool<Part> parts({
        .kernel = [=](device::Device &gpu) { return device::cuda_code(gpu, module, "quadrature"); },
        .threads = 64,
        .attach = device::Attach::if_possible,
    });
    double sum = 0;
    unsigned count = 0;

    parts.push(Part{from, to, tolerance, 0, 0, 0});
    while (parts.unfinished()) {
        const Part part = *parts.pop();
        count++;
        if (part.is_exact_enough) {
            sum += part.sum;
            continue;
        }
        const double middle = (part.from + part.to) / 2;
        for (const auto &[begin, end] : {std::pair(part.from, middle), std::pair(middle, part.to)})
            parts.push(Part{begin, end, part.tolerance / 2, 0, 0, 0});
    }
    std::printf("the integral is %.8f, of %u parts; expected %.8f\n", sum, count, expected);
    if (std::abs(sum - expected) > 1e-7)
        throw Error("the integral is wrong");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: quadrature MODULE, which is quadrature.cu as nvcc -cubin has compiled it\n");
        return 2;
    }
    try {
        integrate(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "quadrature: %s\n", error.what());
        return 1;
    }
    return 0;
}
