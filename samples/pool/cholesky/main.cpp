// SPDX-License-Identifier: MIT
/* Cholesky's factorization by tiles (CAGTP, section 4.2.2): a pool against a launch for each step, and others. */
#include "samples/pool/cholesky/measure.hpp"

using namespace ptsched;

int main(int argc, char **argv)
{
    cholesky::Shape shape;
    return samples::run_program(
        argc, argv, "pool-cholesky", "Cholesky's factorization of matrices of doubles, by tiles of 64 x 64.",
        [&](const samples::Settings &settings, samples::Report &report) { cholesky::run(shape, settings, report); },
        {{"--blocks", &shape.blocks, "of the pool; 0: two for each multiprocessor"},
         {"--depth", &shape.depth, "slots of a block"},
         {"--rows", &shape.rows, "of the matrix, a multiple of 64; 0: 1024, 2048 and 4096"},
         {"--columns", &shape.columns,
          "of tiles, by which others are updated at once; 0: 1, and from 2048 rows on 4"}});
}
