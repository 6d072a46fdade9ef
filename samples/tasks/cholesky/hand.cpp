// SPDX-License-Identifier: MIT
/*
 * The tiles of a row are in one stream, so that only solved tiles of other rows are waited for, each once by a stream:
 * what comes behind it there comes after that, too. Thus the next column is factored while the ones behind it are
 * updated. Tiles are copied by columns to the GPU, and back when they are done.
 */
#include "samples/tasks/cholesky/problem.hpp"

namespace ptsched::cholesky {

namespace {

using namespace samples::driver;
using samples::TiledMatrix;

class ByHand : public samples::Way {
public:
    ByHand(Problem &problem, const Steps &steps)
        : problem_(problem), steps_(steps), memory_(problem.tiling.elements()),
          on_gpu_memory_(problem.tiling.elements()), host_{memory_.data(), problem.tiling}, gpu_{on_gpu_memory_.data(),
                                                                                                 problem.tiling},
          streams_(problem.tiling.count), arrived_(problem.tiling.tiles()), done_(problem.tiling.tiles())
    {
    }
    void restore() override { problem_.restore(memory_.data()); }
    void check() override { problem_.check(memory_.all(), "by hand"); }

    void run() override
    {
        const unsigned count = problem_.tiling.count;
        for (unsigned column = 0; column < count; column++)
            for (unsigned row = column; row < count; row++)
                bring(row, column);
        for (unsigned k = 0; k < count; k++) {
            if (k == 0)
                arrived_[0].hold_back(streams_[0]);
            steps_.factor(streams_[k], problem_.tiling.n, gpu_(k, k).data());
            finish(k, k);
            for (unsigned row = k + 1; row < count; row++)
                solve(row, k);
            for (unsigned row = k + 1; row < count; row++)
                update_row(row, k);
        }
        to_host_.finish();
    }

private:
    std::size_t place(unsigned row, unsigned column) const { return problem_.tiling.place(row, column); }

    void bring(unsigned row, unsigned column)
    {
        upload(gpu_(row, column).data(), host_(row, column).data(), problem_.tiling.tile_elements(), to_gpu_);
        arrived_[place(row, column)].record(to_gpu_);
    }

    /* Nobody writes it any more. */
    void finish(unsigned row, unsigned column)
    {
        done_[place(row, column)].record(streams_[row]);
        done_[place(row, column)].hold_back(to_host_);
        download(host_(row, column).data(), gpu_(row, column).data(), problem_.tiling.tile_elements(), to_host_);
    }

    void solve(unsigned row, unsigned k)
    {
        const Stream &stream = streams_[row];
        if (k == 0)
            arrived_[place(row, k)].hold_back(stream);
        done_[place(k, k)].hold_back(stream);
        steps_.solve(stream, problem_.tiling.n, gpu_(k, k).data(), gpu_(row, k).data());
        finish(row, k);
    }

    void update_row(unsigned row, unsigned k)
    {
        const Stream &stream = streams_[row];
        for (unsigned column = k + 1; column <= row; column++) {
            if (k == 0)
                arrived_[place(row, column)].hold_back(stream);
            if (column < row)
                done_[place(column, k)].hold_back(stream);
            steps_.update(stream, problem_.tiling.n, gpu_(row, k).data(), gpu_(column, k).data(),
                          gpu_(row, column).data());
        }
    }

    Problem &problem_;
    const Steps &steps_;
    const Context context_;
    const Pinned<double> memory_;
    const Memory<double> on_gpu_memory_;
    const TiledMatrix host_, gpu_;
    const Stream to_gpu_, to_host_;
    const std::vector<Stream> streams_; /* of each row of tiles */
    const std::vector<Event> arrived_, done_;
};

} // namespace

std::unique_ptr<samples::Way> by_hand(Problem &problem, const Steps &steps)
{
    return std::make_unique<ByHand>(problem, steps);
}

} // namespace ptsched::cholesky
