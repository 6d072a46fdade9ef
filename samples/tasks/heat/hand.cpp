// SPDX-License-Identifier: MIT
/*
 * In a sweep, a row of tiles is done in one stream, from left to right; the next row and the next sweep go behind it in
 * others, as far as its events let them. Tiles are copied to the GPU in the order in which they are needed, and back
 * when the last sweep has done them.
 */
#include "samples/common/driver.hpp"
#include "samples/tasks/heat/problem.hpp"

#include <array>

namespace ptsched::heat {

namespace {

using namespace samples::driver;

class ByHand : public samples::Way {
public:
    ByHand(Problem &problem, const std::string &module)
        : problem_(problem), module_(module), kernel_(module_.find("relax")), plate_(problem.shape.cells()),
          on_gpu_(problem.shape.cells()), arrived_(problem.shape.all_tiles()), done_(problem.shape.all_tiles())
    {
    }
    void restore() override { problem_.restore(plate_.data()); }
    void check() override { problem_.check(plate_.all(), "by hand"); }

    void run() override
    {
        const int count = static_cast<int>(problem_.shape.tiles);
        bring(problem_.shape.hot());
        bring(problem_.shape.cold());
        for (std::size_t tile = 0; tile < problem_.shape.hot(); tile++)
            bring(tile);
        for (unsigned sweep = 0; sweep < problem_.shape.sweeps; sweep++)
            for (int row = 0; row < count; row++)
                for (int column = 0; column < count; column++)
                    relax(sweep, row, column);
        to_host_.finish();
    }

private:
    double *on_gpu(std::size_t tile) const { return on_gpu_.data() + tile * problem_.shape.tile_cells(); }

    void bring(std::size_t tile)
    {
        const std::size_t cells = problem_.shape.tile_cells();
        upload(on_gpu(tile), plate_.data() + tile * cells, cells, to_gpu_);
        arrived_[tile].record(to_gpu_);
    }

    /* The tile to the left comes before in the same stream. */
    void wait_for_others(unsigned sweep, int row, int column, CUstream stream)
    {
        const Shape &shape = problem_.shape;
        const int count = static_cast<int>(shape.tiles);
        if (sweep == 0) { /* tiles arrive in order: these two are the last ones */
            arrived_[shape.place(row, std::min(column + 1, count - 1))].hold_back(stream);
            arrived_[shape.place(std::min(row + 1, count - 1), column)].hold_back(stream);
        }
        if (row > 0)
            done_[shape.place(row - 1, column)].hold_back(stream);
        if (sweep == 0)
            return;
        if (row + 1 < count)
            done_[shape.place(row + 1, column)].hold_back(stream);
        done_[shape.place(row, std::min(column + 1, count - 1))].hold_back(stream);
    }

    void relax(unsigned sweep, int row, int column)
    {
        const Shape &shape = problem_.shape;
        const Stream &stream = streams_[(sweep * shape.tiles + static_cast<unsigned>(row)) % streams_.size()];
        const std::size_t tile = shape.place(row, column);
        const auto of = [&](int at_row, int at_column) -> const double * {
            return on_gpu(shape.place(at_row, at_column));
        };
        wait_for_others(sweep, row, column, stream);
        launch(kernel_, stream, {}, {shape.n}, on_gpu(tile), of(row - 1, column), of(row, column - 1),
               of(row, column + 1), of(row + 1, column), shape.n);
        done_[tile].record(stream);
        if (sweep + 1 < shape.sweeps)
            return;
        done_[tile].hold_back(to_host_);
        download(plate_.data() + tile * shape.tile_cells(), on_gpu(tile), shape.tile_cells(), to_host_);
    }

    Problem &problem_;
    const Context context_;
    const Module module_;
    const CUfunction kernel_;
    const Pinned<double> plate_;
    const Memory<double> on_gpu_;
    const Stream to_gpu_, to_host_;
    const std::array<Stream, streams> streams_;
    const std::vector<Event> arrived_, done_; /* of each tile; the latter in the last sweep that was given */
};

} // namespace

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::heat
