// SPDX-License-Identifier: MIT
/*
 * A program of the vendor's libraries: a dense product (cuBLAS), a transform and back (cuFFT) and a sparse product
 * (cuSPARSE) in every step.
 */
#include "tests/gpu/job.hpp"

#include <cublas_v2.h>
#include <cufft.h>
#include <cusparse.h>

namespace {

constexpr int n = 1024, batch = 256, diagonals = 5;

void sure(int status, const char *what)
{
    if (!status)
        return;
    std::fprintf(stderr, "libraries: %s: status %d\n", what, status);
    std::exit(1);
}

__global__ void mix(float *x, const float *product, const cufftComplex *transformed, const float *sparse)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x)
        x[i] = 0.5f * x[i] + 0.1f * product[i] / n + 0.1f * transformed[i % (n * batch)].x / n + 0.1f * sparse[i % n];
}

__global__ void to_complex(cufftComplex *to, const float *from)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * batch; i += gridDim.x * blockDim.x)
        to[i] = {from[i], 0};
}

template <typename T> T *allocate(size_t count)
{
    T *memory;
    check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
    return memory;
}

class Libraries : public Job {
public:
    Libraries() : start_(n * n)
    {
        for (size_t i = 0; i < start_.size(); i++)
            start_[i] = static_cast<float>((i * 2654435761u) % 1000) / 1000;
        sure(cublasCreate(&blas_), "cublasCreate");
        sure(cufftPlan1d(&plan_, n, CUFFT_C2C, batch), "cufftPlan1d");
        sure(cusparseCreate(&sparse_), "cusparseCreate");
        make_matrix();
    }

    void reset() override
    {
        check(cudaMemcpy(x_, start_.data(), n * n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    }

    void step() override
    {
        const float one = 1, zero = 0;
        sure(cublasSgemm(blas_, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, x_, n, x_, n, &zero, product_, n), "gemm");
        to_complex<<<256, 256>>>(transformed_, x_);
        sure(cufftExecC2C(plan_, transformed_, transformed_, CUFFT_FORWARD), "cufft forward");
        sure(cufftExecC2C(plan_, transformed_, transformed_, CUFFT_INVERSE), "cufft inverse");
        sure(cusparseSpMV(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, from_, &zero, to_, CUDA_R_32F,
                          CUSPARSE_SPMV_CSR_ALG2, buffer_),
             "cusparseSpMV");
        mix<<<256, 256>>>(x_, product_, transformed_, result_);
        check(cudaDeviceSynchronize(), "step");
    }

    uint64_t hash() override
    {
        std::vector<float> found(n * n);
        check(cudaMemcpy(found.data(), x_, n * n * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return hash_of(found.data(), found.size() * sizeof(float));
    }

private:
    std::vector<float> start_;
    float *x_ = allocate<float>(n * n), *product_ = allocate<float>(n * n), *result_ = allocate<float>(n);
    cufftComplex *transformed_ = allocate<cufftComplex>(n * batch);
    cublasHandle_t blas_;
    cufftHandle plan_;
    cusparseHandle_t sparse_;
    cusparseSpMatDescr_t matrix_;
    cusparseDnVecDescr_t from_, to_;
    void *buffer_;

    /* A band of 1 / distance. */
    void make_matrix()
    {
        std::vector<int> rows{0}, columns;
        std::vector<float> values;
        for (int row = 0; row < n; row++) {
            for (int column = std::max(0, row - diagonals); column < std::min(n, row + diagonals); column++) {
                columns.push_back(column);
                values.push_back(1.0f / static_cast<float>(1 + std::abs(row - column)));
            }
            rows.push_back(static_cast<int>(columns.size()));
        }
        auto *d_rows = allocate<int>(rows.size()), *d_columns = allocate<int>(columns.size());
        auto *d_values = allocate<float>(values.size());
        check(cudaMemcpy(d_rows, rows.data(), rows.size() * sizeof(int), cudaMemcpyHostToDevice), "rows");
        check(cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice), "columns");
        check(cudaMemcpy(d_values, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice), "values");
        sure(cusparseCreateCsr(&matrix_, n, n, static_cast<int64_t>(values.size()), d_rows, d_columns, d_values,
                               CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
             "cusparseCreateCsr");
        sure(cusparseCreateDnVec(&from_, n, x_, CUDA_R_32F), "cusparseCreateDnVec");
        sure(cusparseCreateDnVec(&to_, n, result_, CUDA_R_32F), "cusparseCreateDnVec");
        const float one = 1, zero = 0;
        size_t size = 0;
        sure(cusparseSpMV_bufferSize(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, from_, &zero, to_,
                                     CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, &size),
             "cusparseSpMV_bufferSize");
        check(cudaMalloc(&buffer_, size + 1), "cudaMalloc");
    }
};

} // namespace

int main(int argc, char **argv)
{
    Libraries job;
    return run_program(job, argc, argv);
}
