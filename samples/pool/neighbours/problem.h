/* SPDX-License-Identifier: MIT */
/* The T nearest of all samples for each of them. */
#ifndef SAMPLES_POOL_NEIGHBOURS_PROBLEM_H
#define SAMPLES_POOL_NEIGHBOURS_PROBLEM_H

namespace ptsched::neighbours {

/* What one task of the device makes, by so many threads. */
constexpr unsigned int tile_rows = 64, tile_columns = 128, tile_threads = 256;
/* The dimensions of samples are a multiple of it. */
constexpr unsigned int tile_depth = 32;

/* Samples one after another, in the device's memory; a multiple of both sides of a tile. */
struct Problem {
    const float *samples;
    unsigned int count, dimensions;
};

/* The products of samples from @row on with those from @column on. */
struct Tile {
    const Problem *problem;
    float *products; /* of row @row with all samples; the next row's are behind them */
    unsigned int row, column;
};

/* On the host: what is nearest to the samples of a row of tiles. */
struct Select {
    const float *products;
    unsigned int row, buffer;
};

} // namespace ptsched::neighbours

#endif /* SAMPLES_POOL_NEIGHBOURS_PROBLEM_H */
