/* SPDX-License-Identifier: MIT */

namespace {

constexpr unsigned int most_rows = 1024;

}

/*
 * A sweep of Gauss and Seidel over a tile of doubles, in place: each becomes the mean of its neighbours, where those
 * above and to the left have been done before. The threads of one thread block have a row each, and go along it one
 * behind the other; a row's new values go to the next row's thread through shared memory.
 */
extern "C" __global__ void relax(double *tile, const double *above, const double *left, const double *right,
                                 const double *below, unsigned int n)
{
    __shared__ double passed[2][most_rows];
    const unsigned int row = threadIdx.x;
    double *const own = tile + row * n;
    const double *const under = row + 1 < n ? own + n : below;
    double last = left[row * n + n - 1]; /* to the left, done before */
    double next_under = under[0], next_right = n > 1 ? own[1] : right[row * n];
    for (unsigned int step = 0; step < 2 * n - 1; step++) {
        const unsigned int column = step - row;
        if (step >= row && column < n) {
            const double up = row ? passed[(step + 1) % 2][row - 1] : above[(n - 1) * n + column];
            const double made = 0.25 * (up + last + next_right + next_under);
            own[column] = made;
            passed[step % 2][row] = made;
            last = made;
            if (column + 1 < n) {
                next_under = under[column + 1];
                next_right = column + 2 < n ? own[column + 2] : right[row * n];
            }
        }
        __syncthreads();
    }
}
