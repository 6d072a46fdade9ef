// SPDX-License-Identifier: MIT
/* Both libraries have matrices by columns: what is given to them is the transposed of what it is here. */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/tasks/common/blas.h"

#include <cublas_v2.h>
#include <cusolverDn.h>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

namespace {

using ptsched::samples::check;

class Handles {
public:
    explicit Handles(cudaStream_t stream)
    {
        check(cublasCreate(&blas));
        check(cublasSetStream(blas, stream));
        check(cusolverDnCreate(&solver));
        check(cusolverDnSetStream(solver, stream));
    }
    ~Handles()
    {
        cudaFree(workspace_);
        cudaFree(info_);
        cusolverDnDestroy(solver);
        cublasDestroy(blas);
    }
    Handles(const Handles &) = delete;
    Handles &operator=(const Handles &) = delete;

    /* As much as cuSOLVER asks for: of a stream, one factorization uses it after another. */
    double *workspace(int count)
    {
        if (count > count_) {
            cudaFree(workspace_);
            workspace_ = nullptr;
            check(cudaMalloc(&workspace_, count * sizeof(double)));
            count_ = count;
        }
        return workspace_;
    }
    int *info()
    {
        if (!info_)
            check(cudaMalloc(&info_, sizeof(int)));
        return info_;
    }

    std::mutex mutex;
    cublasHandle_t blas = nullptr;
    cusolverDnHandle_t solver = nullptr;

private:
    double *workspace_ = nullptr;
    int count_ = 0;
    int *info_ = nullptr; /* nobody looks: a matrix that has no factor is found out */
};

std::mutex streams_mutex;
/* By what no two streams have, not even one after another. */
std::map<unsigned long long int, std::unique_ptr<Handles>> by_stream;

Handles &handles_of(cudaStream_t stream)
{
    unsigned long long int id = 0;
    check(cudaStreamGetId(stream, &id));
    const std::lock_guard<std::mutex> lock(streams_mutex);
    std::unique_ptr<Handles> &handles = by_stream[id];
    if (!handles)
        handles = std::make_unique<Handles>(stream);
    return *handles;
}

template <typename Function> const char *with(cudaStream_t stream, Function function)
{
    return ptsched::samples::try_to([&] {
        Handles &handles = handles_of(stream);
        const std::lock_guard<std::mutex> lock(handles.mutex);
        function(handles);
    });
}

constexpr double one = 1, minus_one = -1;

} // namespace

extern "C" const char *blas_multiply(CUstream_st *stream, unsigned int n, const double *a, const double *b, double *c)
{
    const int rows = static_cast<int>(n);
    return with(stream, [&](Handles &of) {
        check(cublasDgemm(of.blas, CUBLAS_OP_N, CUBLAS_OP_N, rows, rows, rows, &one, b, rows, a, rows, &one, c, rows));
    });
}

extern "C" const char *blas_factor(CUstream_st *stream, unsigned int n, double *a)
{
    const int rows = static_cast<int>(n);
    return with(stream, [&](Handles &of) {
        int count = 0;
        check(cusolverDnDpotrf_bufferSize(of.solver, CUBLAS_FILL_MODE_UPPER, rows, a, rows, &count));
        double *const workspace = of.workspace(count);
        check(cusolverDnDpotrf(of.solver, CUBLAS_FILL_MODE_UPPER, rows, a, rows, workspace, count, of.info()));
    });
}

extern "C" const char *blas_solve(CUstream_st *stream, unsigned int n, const double *l, double *a)
{
    const int rows = static_cast<int>(n);
    return with(stream, [&](Handles &of) {
        check(cublasDtrsm(of.blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, rows,
                          rows, &one, l, rows, a, rows));
    });
}

extern "C" const char *blas_update(CUstream_st *stream, unsigned int n, const double *a, const double *b, double *c)
{
    const int rows = static_cast<int>(n);
    return with(stream, [&](Handles &of) {
        if (a == b)
            check(cublasDsyrk(of.blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, rows, rows, &minus_one, a, rows, &one, c,
                              rows));
        else
            check(cublasDgemm(of.blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, rows, rows, &minus_one, b, rows, a, rows, &one,
                              c, rows));
    });
}

extern "C" void blas_forget()
{
    const std::lock_guard<std::mutex> lock(streams_mutex);
    by_stream.clear();
}
