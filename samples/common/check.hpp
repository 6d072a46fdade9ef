/* SPDX-License-Identifier: MIT */
/* What calls of the CUDA toolkit return: throws std::runtime_error with the words, behind @what was tried. */
#ifndef SAMPLES_COMMON_CHECK_HPP
#define SAMPLES_COMMON_CHECK_HPP

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <stdexcept>
#include <string>

namespace ptsched::samples {

[[noreturn]] inline void fail(const char *what, const std::string &text)
{
    throw std::runtime_error(what ? std::string(what) + ": " + text : text);
}

inline void check(cudaError_t error, const char *what = nullptr)
{
    if (error != cudaSuccess)
        fail(what, cudaGetErrorString(error));
}

inline void check(cublasStatus_t status, const char *what = nullptr)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        fail(what, cublasGetStatusString(status));
}

inline void check(cusolverStatus_t status, const char *what = nullptr)
{
    if (status != CUSOLVER_STATUS_SUCCESS)
        fail(what, "cuSOLVER's status " + std::to_string(status));
}

inline void check(cusparseStatus_t status, const char *what = nullptr)
{
    if (status != CUSPARSE_STATUS_SUCCESS)
        fail(what, cusparseGetErrorString(status));
}

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_CHECK_HPP */
