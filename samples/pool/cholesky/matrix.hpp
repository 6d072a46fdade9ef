/* SPDX-License-Identifier: MIT */
/* A positive definite matrix on a GPU, and whether what became of it is its factor. */
#ifndef SAMPLES_POOL_CHOLESKY_MATRIX_HPP
#define SAMPLES_POOL_CHOLESKY_MATRIX_HPP

#include <ptsched/device/allocation.hpp>

#include <string>
#include <vector>

namespace ptsched::cholesky {

class Matrix {
public:
    /* Symmetric, of random numbers, with the diagonal that makes it positive definite. */
    Matrix(device::Device &gpu, unsigned n);
    unsigned rows() const { return n_; }
    /* Behind it is room for the inverses. */
    double *address() const { return static_cast<double *>(device::host_pointer(memory_.address())); }
    /* As it was at first. */
    void restore();
    /* Throws Error if what is there is not the factor; @by says whose. */
    void check(const std::string &by);

private:
    const unsigned n_;
    const std::unique_ptr<device::Queue> queue_;
    const device::Allocation original_, memory_;
    /* That and its product with the matrix: the factor's products are to give the same. */
    std::vector<double> vector_, product_;
};

} // namespace ptsched::cholesky

#endif /* SAMPLES_POOL_CHOLESKY_MATRIX_HPP */
