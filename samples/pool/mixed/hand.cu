// SPDX-License-Identifier: MIT
/*
 * One kernel after another, and both in two streams: with as many blocks as there are parts, of which the first
 * kernel's fill the device before the second's come; and with no more blocks of each than leave room for the other's,
 * which then share every multiprocessor. The matrix by cuSPARSE, too. The last form is one kernel that is made of both.
 */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/pool/mixed/hand.h"
#include "samples/pool/mixed/work.h"

#include <chrono>
#include <cusparse.h>
#include <stdexcept>
#include <string>

namespace ptsched::mixed {

namespace {

constexpr unsigned threads = 256;

using ptsched::samples::check;

struct Prepared {
    Problem problem{};
    const unsigned *cuts = nullptr;
    unsigned parts = 0, processors = 0;
    cudaStream_t streams[2] = {};
    cusparseHandle_t sparse = nullptr;
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnVecDescr_t x = nullptr, y = nullptr;
    void *workspace = nullptr;
};
Prepared prepared;

__device__ void multiply_part(const Matrix &matrix, const unsigned *cuts, unsigned part)
{
    multiply(matrix, cuts[part], cuts[part + 1]);
}

__device__ void price_part(const Options &options, unsigned part, unsigned parts)
{
    const unsigned long long count = options.count;
    price(options, static_cast<unsigned>(count * part / parts), static_cast<unsigned>(count * (part + 1) / parts));
}

__global__ void multiply_all(Matrix matrix, const unsigned *cuts, unsigned parts)
{
    for (unsigned part = blockIdx.x; part < parts; part += gridDim.x)
        multiply_part(matrix, cuts, part);
}

__global__ void price_all(Options options, unsigned parts)
{
    for (unsigned part = blockIdx.x; part < parts; part += gridDim.x)
        price_part(options, part, parts);
}

/* Every second block is for the options. */
__global__ void both(Matrix matrix, const unsigned *cuts, Options options, unsigned parts)
{
    if (blockIdx.x % 2)
        price_part(options, blockIdx.x / 2, parts);
    else
        multiply_part(matrix, cuts, blockIdx.x / 2);
}

constexpr float one = 1, zero = 0;

void multiply_by_cusparse(cudaStream_t stream)
{
    check(cusparseSetStream(prepared.sparse, stream), "cusparseSetStream");
    check(cusparseSpMV(prepared.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, prepared.matrix, prepared.x, &zero,
                       prepared.y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, prepared.workspace),
          "cusparseSpMV");
}

/* In @blocks blocks of each multiprocessor; 0: one for each part. */
void launch_multiply(cudaStream_t stream, unsigned blocks = 0)
{
    multiply_all<<<blocks ? blocks * prepared.processors : prepared.parts, threads, 0, stream>>>(
        prepared.problem.matrix, prepared.cuts, prepared.parts);
}

void launch_price(cudaStream_t stream, unsigned blocks = 0)
{
    price_all<<<blocks ? blocks * prepared.processors : prepared.parts, threads, 0, stream>>>(prepared.problem.options,
                                                                                              prepared.parts);
}

void launch(int form)
{
    const cudaStream_t first = prepared.streams[0], second = prepared.streams[1];
    /* Blocks of a multiprocessor for the matrix, and for options. */
    static constexpr unsigned shares[][2] = {{2, 6}, {3, 5}, {4, 4}, {5, 3}, {6, 2}};
    switch (form) {
    case 0:
        launch_multiply(first);
        break;
    case 1:
        multiply_by_cusparse(first);
        break;
    case 2:
        launch_price(first);
        break;
    case 3:
        launch_multiply(first);
        launch_price(first);
        break;
    case 4:
        multiply_by_cusparse(first);
        launch_price(first);
        break;
    case 5:
        launch_multiply(first);
        launch_price(second);
        break;
    case 6:
        launch_price(second);
        launch_multiply(first);
        break;
    case 7:
        multiply_by_cusparse(first);
        launch_price(second);
        break;
    case 8:
        launch_price(second);
        multiply_by_cusparse(first);
        break;
    case 14:
        both<<<2 * prepared.parts, threads, 0, first>>>(prepared.problem.matrix, prepared.cuts,
                                                        prepared.problem.options, prepared.parts);
        break;
    default:
        launch_multiply(first, shares[form - 9][0]);
        launch_price(second, shares[form - 9][1]);
    }
    check(cudaGetLastError(), "a launch");
}

void prepare_once()
{
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    prepared.processors = static_cast<unsigned>(count);
    for (cudaStream_t &stream : prepared.streams)
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cusparseCreate(&prepared.sparse), "cusparseCreate");
}

void *changeable(const void *memory)
{
    return const_cast<void *>(memory);
}

void prepare_cusparse(const Matrix &matrix)
{
    check(cusparseCreateCsr(&prepared.matrix, matrix.rows, matrix.rows, matrix.entries, changeable(matrix.begins),
                            changeable(matrix.columns), changeable(matrix.values), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
          "cusparseCreateCsr");
    check(cusparseCreateDnVec(&prepared.x, matrix.rows, changeable(matrix.x), CUDA_R_32F), "cusparseCreateDnVec");
    check(cusparseCreateDnVec(&prepared.y, matrix.rows, matrix.y, CUDA_R_32F), "cusparseCreateDnVec");
    size_t bytes = 0;
    check(cusparseSpMV_bufferSize(prepared.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, prepared.matrix, prepared.x,
                                  &zero, prepared.y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, &bytes),
          "cusparseSpMV_bufferSize");
    check(cudaMalloc(&prepared.workspace, bytes + 1), "cudaMalloc");
    check(cusparseSpMV_preprocess(prepared.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, prepared.matrix, prepared.x,
                                  &zero, prepared.y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, prepared.workspace),
          "cusparseSpMV_preprocess");
}

void forget_cusparse()
{
    if (!prepared.matrix)
        return;
    check(cusparseDestroySpMat(prepared.matrix), "cusparseDestroySpMat");
    check(cusparseDestroyDnVec(prepared.x), "cusparseDestroyDnVec");
    check(cusparseDestroyDnVec(prepared.y), "cusparseDestroyDnVec");
    check(cudaFree(prepared.workspace), "cudaFree");
}

} // namespace

} // namespace ptsched::mixed

extern "C" {

const char *const hand_forms[] = {"matrix-alone",
                                  "cusparse-alone",
                                  "options-alone",
                                  "in-turn",
                                  "in-turn/cusparse",
                                  "streams/matrix-first",
                                  "streams/options-first",
                                  "streams/cusparse-first",
                                  "streams/options-cusparse",
                                  "shared-streams/2-6",
                                  "shared-streams/3-5",
                                  "shared-streams/4-4",
                                  "shared-streams/5-3",
                                  "shared-streams/6-2",
                                  "one-kernel",
                                  nullptr};

const char *hand_prepare(const ptsched::mixed::Problem *problem, const unsigned *cuts, unsigned parts)
{
    using namespace ptsched::mixed;
    return ptsched::samples::try_to([&] {
        if (!prepared.sparse)
            prepare_once();
        forget_cusparse();
        prepared.problem = *problem;
        prepared.cuts = cuts;
        prepared.parts = parts;
        prepare_cusparse(problem->matrix);
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    });
}

const char *hand_run(int form, double *seconds)
{
    using namespace ptsched::mixed;
    return ptsched::samples::try_to([&] {
        const auto begin = std::chrono::steady_clock::now();
        launch(form);
        for (const cudaStream_t stream : prepared.streams)
            check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
}
}
