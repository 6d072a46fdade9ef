/* SPDX-License-Identifier: MIT */
/*
 * The factorization of a positive definite matrix, A = L L', by tiles of 64 x 64: what is to be done, and after what.
 * The matrix is of doubles, by rows; of it and of L, what is on the diagonal and below. Behind it there are the
 * inverses of L's tiles on the diagonal, so that to solve with one of them is to multiply (TRTRI and TRMM of the
 * paper).
 */
#ifndef SAMPLES_POOL_CHOLESKY_STEPS_H
#define SAMPLES_POOL_CHOLESKY_STEPS_H

namespace cholesky {

constexpr unsigned int size = 64; /* of a tile */

enum class Kind : unsigned short {
    factor, /* the tile on the diagonal of column k, and its inverse */
    solve,  /* a tile of column k with that */
    update, /* a tile behind column k, by two of that column */
};

/* A task. */
struct Step {
    double *matrix;
    unsigned int n; /* rows, a multiple of a tile's */
    Kind kind;
    unsigned short row, column, k; /* of tiles */
    unsigned int failed;           /* out: by factor, not 0 if the matrix is not positive definite */
};

/* Doubles that the matrix and the inverses take. */
constexpr unsigned long long int elements(unsigned int n)
{
    return static_cast<unsigned long long int>(n) * (n + size);
}

/*
 * Calls @add(step, after, count) for all steps: after what it returned for the first @count of @after, which came
 * before. @last has room for a value for each tile, by rows. Tiles of the next column come first.
 */
template <typename Id, typename Add> void for_each_step(double *matrix, unsigned int n, Id *last, Add add)
{
    const unsigned int tiles = n / size;
    const auto at = [=](unsigned int row, unsigned int column) -> Id & { return last[row * tiles + column]; };
    const auto make = [=](Kind kind, unsigned int row, unsigned int column, unsigned int k) {
        return Step{matrix,
                    n,
                    kind,
                    static_cast<unsigned short>(row),
                    static_cast<unsigned short>(column),
                    static_cast<unsigned short>(k),
                    0};
    };
    for (unsigned int k = 0; k < tiles; k++) {
        const unsigned int had = k ? 1 : 0; /* whether a tile has been updated before */
        at(k, k) = add(make(Kind::factor, k, k, k), &at(k, k), had);
        for (unsigned int row = k + 1; row < tiles; row++) {
            const Id after[] = {at(k, k), at(row, k)};
            at(row, k) = add(make(Kind::solve, row, k, k), after, 1 + had);
        }
        for (unsigned int column = k + 1; column < tiles; column++)
            for (unsigned int row = column; row < tiles; row++) {
                const bool on_diagonal = row == column;
                const Id after[] = {at(column, k), on_diagonal ? at(row, column) : at(row, k), at(row, column)};
                at(row, column) = add(make(Kind::update, row, column, k), after, (on_diagonal ? 1 : 2) + had);
            }
    }
}

} // namespace cholesky

#endif /* SAMPLES_POOL_CHOLESKY_STEPS_H */
