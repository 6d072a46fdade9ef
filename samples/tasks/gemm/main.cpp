// SPDX-License-Identifier: MIT
/* A product of matrices by tiles: much is computed, by cuBLAS, while others are copied. */
#include "samples/tasks/common/tiled_program.hpp"
#include "samples/tasks/gemm/problem.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    samples::TiledProgram<gemm::Problem, gemm::Multiply> program{
        "gemm",        "Multiplies matrices of doubles by tiles, on the first GPU.",
        {12, 3},       16384,
        2048,          gemm::by_hand,
        gemm::by_tasks};
    return program.main(argc, argv);
}
