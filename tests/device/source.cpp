// SPDX-License-Identifier: MIT
// Kernels from CUDA source.
#include "cases.hpp"

#include <cstdlib>
#include <dlfcn.h>

using namespace ptsched;
using test::refused;

namespace {

void compile(const std::string &source)
{
    device::cuda_code_from_source(*device::gpus().at(0), source, "twice");
}

const std::string right = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }";
const std::string wrong = "__global__ void twice(float *x) { x[threadIdx.x] *= two; }";

void without_a_compiler()
{
    setenv("PTSCHED_NVRTC", "/nonexistent/libnvrtc.so", 1);
    CHECK(refused([] { compile(right); }, {"NVRTC", "cannot be loaded (/nonexistent/libnvrtc.so: ", "nvcc"}));
    unsetenv("PTSCHED_NVRTC");
}

/* The virtual GPU takes no cubin, so that with a compiler the last step is refused, and by the driver. */
void as_installed()
{
    bool there = false;
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"})
        there = there || dlopen(name, RTLD_NOW);
    std::printf("# NVRTC is %sinstalled\n", there ? "" : "not ");
    if (there) {
        CHECK(refused([] { compile(wrong); }, {"kernel twice does not compile", "source.cu(1)", "two"}));
        CHECK(refused([] { compile(right); }, {"twice", "CUDA_ERROR_INVALID_IMAGE"}));
    } else {
        CHECK(refused([] { compile(right); }, {"NVRTC", "libnvrtc.so.12", "nvcc"}));
    }
}

} // namespace

std::vector<tap::Case> test::source_cases()
{
    return {{"CUDA source without a compiler", without_a_compiler}, {"CUDA source as it is here", as_installed}};
}
