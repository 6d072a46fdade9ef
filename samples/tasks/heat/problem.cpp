// SPDX-License-Identifier: MIT
#include "samples/tasks/heat/problem.hpp"

#include <algorithm>

namespace ptsched::heat {

namespace {

constexpr double hot = 100;

/* Of a plate by rows, with a border. */
void sweep(std::vector<double> &plate, std::size_t side)
{
    const std::size_t pitch = side + 2;
    for (std::size_t row = 1; row <= side; row++)
        for (std::size_t column = 1; column <= side; column++) {
            double *const own = &plate[row * pitch + column];
            *own = 0.25 * (own[-static_cast<std::ptrdiff_t>(pitch)] + own[-1] + own[1] + own[pitch]);
        }
}

} // namespace

Problem::Problem(Shape of) : shape(of)
{
    const std::size_t n = of.n, side = n * of.tiles, pitch = side + 2;
    std::vector<double> plate(pitch * pitch);
    std::fill_n(plate.begin(), pitch, hot);
    for (unsigned i = 0; i < of.sweeps; i++)
        sweep(plate, side);

    std::vector<double> by_tiles(of.cells());
    restore(by_tiles.data());
    for (std::size_t row = 0; row < side; row++)
        for (std::size_t column = 0; column < side; column++) {
            const std::size_t tile = of.place(static_cast<int>(row / n), static_cast<int>(column / n));
            by_tiles[tile * n * n + row % n * n + column % n] = plate[(row + 1) * pitch + column + 1];
        }
    expected_.set(std::move(by_tiles));
}

void Problem::restore(double *plate) const
{
    std::fill_n(plate, shape.cells(), 0.0);
    std::fill_n(plate + shape.hot() * shape.tile_cells(), shape.tile_cells(), hot);
}

} // namespace ptsched::heat
