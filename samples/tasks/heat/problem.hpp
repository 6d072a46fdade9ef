/* SPDX-License-Identifier: MIT */
/* Heat in a plate by the iteration of Gauss and Seidel: by tiles, which one behind the other make a wave. */
#ifndef SAMPLES_TASKS_HEAT_PROBLEM_HPP
#define SAMPLES_TASKS_HEAT_PROBLEM_HPP

#include "samples/tasks/common/modes.hpp"

namespace ptsched::heat {

constexpr unsigned streams = 32; /* tiles that are done at once, more or less */

struct Shape {
    unsigned n, tiles, sweeps; /* rows of a tile, at most 1024; tiles in a row of them; how often all is done */
    std::size_t tile_cells() const { return std::size_t{n} * n; }
    /* Behind the plate's tiles, by rows of them, are two for what is at its edges: a hot one above, else a cold one. */
    std::size_t hot() const { return std::size_t{tiles} * tiles; }
    std::size_t cold() const { return hot() + 1; }
    std::size_t all_tiles() const { return cold() + 1; }
    /* Of a tile of the plate, or of one at its edges, from -1 to tiles. */
    std::size_t place(int row, int column) const
    {
        const int count = static_cast<int>(tiles);
        if (row < 0)
            return hot();
        return row < count && column >= 0 && column < count ? static_cast<std::size_t>(row * count + column) : cold();
    }
    std::size_t cells() const { return all_tiles() * tile_cells(); }
};

class Problem {
public:
    explicit Problem(Shape shape);
    const Shape shape;
    void restore(double *plate) const;
    void check(std::span<const double> plate, const std::string &by) { expected_.check(plate, "the plate " + by); }

private:
    samples::Expected<double> expected_{1e-13};
};

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module);
std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, tasks::Memory memory);

} // namespace ptsched::heat

#endif /* SAMPLES_TASKS_HEAT_PROBLEM_HPP */
