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
    update, /* a tile behind column k, by those of that and maybe the next columns in its row and its column's */
};

/* A task. */
struct Step {
    double *matrix;
    unsigned int n; /* rows, a multiple of a tile's */
    Kind kind;
    unsigned short row, column, k; /* of tiles */
    unsigned short columns;        /* from k on, by which is updated; else 1 */
    unsigned short failed;         /* out: by factor, not 0 if the matrix is not positive definite */
};

/* Doubles that the matrix and the inverses take. */
constexpr unsigned long long int elements(unsigned int n)
{
    return static_cast<unsigned long long int>(n) * (n + size);
}

/*
 * Of how many columns what is behind them is updated at once: more make fewer and longer steps, of which there are
 * enough anyway if there are many columns.
 */
constexpr unsigned int usual_columns(unsigned int n)
{
    return n < 2048 ? 1 : 4;
}

/*
 * Calls @add(step, after, count) for all steps: after what it returned for the first @count of @after, which came
 * before. @last has room for a value for each tile, by rows. @columns: see usual_columns().
 */
template <typename Id, typename Add>
void for_each_step(double *matrix, unsigned int n, unsigned int columns, Id *last, Add add)
{
    const unsigned int tiles = n / size;
    const auto at = [=](unsigned int row, unsigned int column) -> Id & { return last[row * tiles + column]; };
    const auto make = [=](Kind kind, unsigned int row, unsigned int column, unsigned int k, unsigned int count) {
        const auto narrow = [](unsigned int number) { return static_cast<unsigned short>(number); };
        return Step{matrix, n, kind, narrow(row), narrow(column), narrow(k), narrow(count), 0};
    };
    /* Of a row of such columns, the last one was solved after the others. */
    const auto update = [&](unsigned int from, unsigned int to, unsigned int k, unsigned int end) {
        for (unsigned int column = from; column < to; column++)
            for (unsigned int row = column; row < tiles; row++) {
                const bool on_diagonal = row == column;
                const Id after[] = {at(column, end - 1), on_diagonal ? at(row, column) : at(row, end - 1),
                                    at(row, column)};
                at(row, column) =
                    add(make(Kind::update, row, column, k, end - k), after, (on_diagonal ? 1 : 2) + (k ? 1 : 0));
            }
    };
    for (unsigned int first = 0; first < tiles; first += columns) {
        const unsigned int end = first + columns < tiles ? first + columns : tiles;
        for (unsigned int k = first; k < end; k++) {
            const unsigned int had = k ? 1 : 0; /* whether a tile has been updated before */
            at(k, k) = add(make(Kind::factor, k, k, k, 1), &at(k, k), had);
            for (unsigned int row = k + 1; row < tiles; row++) {
                const Id after[] = {at(k, k), at(row, k)};
                at(row, k) = add(make(Kind::solve, row, k, k, 1), after, 1 + had);
            }
            update(k + 1, end, k, k + 1);
        }
        update(end, tiles, first, end);
    }
}

} // namespace cholesky

#endif /* SAMPLES_POOL_CHOLESKY_STEPS_H */
