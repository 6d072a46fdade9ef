// SPDX-License-Identifier: MIT
/* Cholesky's factorization by tiles: many steps of different length that depend on each other. */
#include "samples/tasks/cholesky/problem.hpp"
#include "samples/tasks/common/tiled_program.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    samples::TiledProgram<cholesky::Problem, cholesky::Steps> program{
        "cholesky",
        "Factors a matrix of doubles by tiles, on the first GPU.",
        {12, 4},
        16384,
        2048,
        cholesky::by_hand,
        cholesky::by_tasks};
    return program.main(argc, argv);
}
