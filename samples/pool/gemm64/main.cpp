// SPDX-License-Identifier: MIT
/* Products of 64 x 64 (CAGTP, section 4.2.1): a pool against all forms in which cuBLAS has them. */
#include "samples/pool/gemm64/measure.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    gemm64::Shape shape;
    return samples::run_program(
        argc, argv, "pool-gemm64", "128 products of matrices of 64 x 64, by a pool and by cuBLAS.",
        [&](const samples::Settings &settings, samples::Report &report) { gemm64::run(shape, settings, report); },
        {{"--blocks", &shape.blocks, "of the pool; 0: as many as tasks"},
         {"--depth", &shape.depth, "slots of a block"},
         {"--products", &shape.products, "in a task: 1 or 2, of floats also 4"}});
}
