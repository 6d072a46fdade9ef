/* SPDX-License-Identifier: MIT */
/* Square matrices of doubles by tiles: those of a row one behind the other, and each by rows. */
#ifndef SAMPLES_TASKS_COMMON_TILES_HPP
#define SAMPLES_TASKS_COMMON_TILES_HPP

#include <cstddef>
#include <span>

namespace ptsched::samples {

struct Tiling {
    unsigned n, count; /* rows of a tile; tiles in a row of them */

    std::size_t rows() const { return std::size_t{n} * count; }
    std::size_t tile_elements() const { return std::size_t{n} * n; }
    std::size_t elements() const { return rows() * rows(); }
    std::size_t tiles() const { return std::size_t{count} * count; }
    std::size_t place(unsigned row, unsigned column) const { return std::size_t{row} * count + column; }
    /* Of an element, in the matrix. */
    std::size_t at(std::size_t row, std::size_t column) const
    {
        const std::size_t tile = row / n * count + column / n;
        return tile * tile_elements() + row % n * n + column % n;
    }
};

/* One somewhere: on the host, or on a GPU. */
struct TiledMatrix {
    double *data;
    Tiling tiling;

    std::span<double> operator()(unsigned row, unsigned column) const
    {
        return {data + tiling.place(row, column) * tiling.tile_elements(), tiling.tile_elements()};
    }
};

} // namespace ptsched::samples

#endif /* SAMPLES_TASKS_COMMON_TILES_HPP */
