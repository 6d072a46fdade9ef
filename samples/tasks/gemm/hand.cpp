// SPDX-License-Identifier: MIT
/*
 * A tile of c stays in one of a few streams. Tiles of a and b are copied, in the order in which they are first needed,
 * by a stream of their own, and results by another, so that both go on while others are multiplied.
 */
#include "samples/tasks/gemm/problem.hpp"

#include <array>

namespace ptsched::gemm {

namespace {

using namespace samples::driver;
using samples::TiledMatrix;

/* A matrix on the host and on the GPU. */
struct Both {
    explicit Both(const Tiling &tiling)
        : memory(tiling.elements()),
          on_gpu_memory(tiling.elements()), host{memory.data(), tiling}, gpu{on_gpu_memory.data(), tiling},
          arrived(tiling.tiles()), was_sent(tiling.tiles())
    {
    }

    /* Once, if it is not yet on its way. */
    void send(unsigned row, unsigned column, CUstream stream)
    {
        const std::size_t tile = gpu.tiling.place(row, column);
        if (was_sent[tile])
            return;
        was_sent[tile] = true;
        upload(gpu(row, column).data(), host(row, column).data(), gpu.tiling.tile_elements(), stream);
        arrived[tile].record(stream);
    }
    void hold_back(unsigned row, unsigned column, CUstream stream) const
    {
        arrived[gpu.tiling.place(row, column)].hold_back(stream);
    }

    const Pinned<double> memory;
    const Memory<double> on_gpu_memory;
    const TiledMatrix host, gpu;
    const std::vector<Event> arrived;
    std::vector<bool> was_sent;
};

class ByHand : public samples::Way {
public:
    ByHand(Problem &problem, const Multiply &multiply)
        : problem_(problem), multiply_(multiply), a_(problem.tiling), b_(problem.tiling), c_(problem.tiling)
    {
    }
    void restore() override { problem_.restore(a_.memory.data(), b_.memory.data(), c_.memory.data()); }
    void check() override { problem_.check(c_.memory.all(), "by hand"); }

    void run() override
    {
        const unsigned count = problem_.tiling.count;
        for (Both *matrix : {&a_, &b_, &c_})
            matrix->was_sent.assign(matrix->was_sent.size(), false);
        for (unsigned row = 0; row < count; row++)
            for (unsigned column = 0; column < count; column++)
                make_tile(row, column);
        to_host_.finish();
    }

private:
    void make_tile(unsigned row, unsigned column)
    {
        const Tiling &tiling = problem_.tiling;
        const Stream &stream = streams_[tiling.place(row, column) % streams_.size()];
        c_.send(row, column, to_gpu_);
        c_.hold_back(row, column, stream);
        double *const c = c_.gpu(row, column).data();
        for (unsigned i = 0; i < tiling.count; i++) {
            a_.send(row, i, to_gpu_);
            b_.send(i, column, to_gpu_);
            a_.hold_back(row, i, stream);
            b_.hold_back(i, column, stream);
            multiply_(stream, tiling.n, a_.gpu(row, i).data(), b_.gpu(i, column).data(), c);
        }
        done_.record(stream);
        done_.hold_back(to_host_);
        download(c_.host(row, column).data(), c, tiling.tile_elements(), to_host_);
    }

    Problem &problem_;
    const Multiply &multiply_;
    const Context context_;
    Both a_, b_, c_;
    const Stream to_gpu_, to_host_;
    const std::array<Stream, 4> streams_;
    const Event done_;
};

} // namespace

std::unique_ptr<samples::Way> by_hand(Problem &problem, const Multiply &multiply)
{
    return std::make_unique<ByHand>(problem, multiply);
}

} // namespace ptsched::gemm
