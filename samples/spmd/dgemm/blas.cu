// SPDX-License-Identifier: MIT
/* cuBLAS has matrices by columns: what is given to it is the transposed of what it is here. */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/spmd/dgemm/blas.h"

#include <map>
#include <mutex>

namespace {

using ptsched::samples::check;

std::mutex mutex;
/* By what no two streams have, not even one after another. */
std::map<unsigned long long int, cublasHandle_t> by_stream;

cublasHandle_t handle_of(cudaStream_t stream)
{
    unsigned long long int id = 0;
    check(cudaStreamGetId(stream, &id));
    cublasHandle_t &handle = by_stream[id];
    if (!handle) {
        check(cublasCreate(&handle));
        check(cublasSetStream(handle, stream));
    }
    return handle;
}

} // namespace

extern "C" const char *blas_multiply(CUstream_st *stream, unsigned int rows, unsigned int inner, unsigned int columns,
                                     const double *a, const double *b, double *c)
{
    const double one = 1, zero = 0;
    return ptsched::samples::try_to([&] {
        const std::lock_guard<std::mutex> lock(mutex);
        check(cublasDgemm(handle_of(stream), CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(columns),
                          static_cast<int>(rows), static_cast<int>(inner), &one, b, static_cast<int>(columns), a,
                          static_cast<int>(inner), &zero, c, static_cast<int>(columns)));
    });
}

extern "C" void blas_forget()
{
    const std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[id, handle] : by_stream)
        cublasDestroy(handle);
    by_stream.clear();
}
