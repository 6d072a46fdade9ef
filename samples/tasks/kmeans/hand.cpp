// SPDX-License-Identifier: MIT
/*
 * A stream for each block of samples, so that the first iteration begins while others are copied. All add to the same
 * sums; one of the streams moves the centres when all have.
 */
#include "samples/common/driver.hpp"
#include "samples/tasks/kmeans/problem.hpp"

namespace ptsched::kmeans {

namespace {

using namespace samples::driver;

class ByHand : public samples::Way {
public:
    ByHand(Problem &problem, const std::string &module)
        : problem_(problem), module_(module), assign_(module_.find("assign")), move_(module_.find("move_centres")),
          samples_(problem.shape.floats()), centres_(centre_floats), on_gpu_samples_(problem.shape.floats()),
          on_gpu_centres_(centre_floats), sums_(sum_floats), streams_(problem.shape.blocks),
          assigned_(problem.shape.blocks)
    {
    }
    void restore() override { problem_.restore(samples_.data(), centres_.data()); }
    void check() override { problem_.check(centres_.all(), "by hand"); }

    void run() override
    {
        const Shape &shape = problem_.shape;
        upload(on_gpu_centres_.data(), centres_.data(), centre_floats, streams_[0]);
        clear_sums();
        for (unsigned i = 0; i < shape.blocks; i++)
            upload(on_gpu_samples_.data() + i * shape.block_floats(), samples_.data() + i * shape.block_floats(),
                   shape.block_floats(), streams_[i]);
        for (unsigned iteration = 0; iteration < shape.iterations; iteration++) {
            for (unsigned i = 0; i < shape.blocks; i++)
                assign(i);
            for (unsigned i = 1; i < shape.blocks; i++)
                assigned_[i].hold_back(streams_[0]);
            launch(move_, streams_[0], {}, {threads}, static_cast<const float *>(sums_.data()), on_gpu_centres_.data());
            if (iteration + 1 < shape.iterations)
                clear_sums();
        }
        download(centres_.data(), on_gpu_centres_.data(), centre_floats, streams_[0]);
        streams_[0].finish();
    }

private:
    void clear_sums()
    {
        samples::driver::check(cuMemsetD32Async(address(sums_.data()), 0, sum_floats, streams_[0]));
        moved_.record(streams_[0]);
    }

    void assign(unsigned i)
    {
        const Shape &shape = problem_.shape;
        if (i)
            moved_.hold_back(streams_[i]);
        launch(assign_, streams_[i], {shape.grid()}, {threads},
               static_cast<const float *>(on_gpu_samples_.data() + i * shape.block_floats()),
               static_cast<const float *>(on_gpu_centres_.data()), sums_.data(), shape.block);
        if (i)
            assigned_[i].record(streams_[i]);
    }

    Problem &problem_;
    const Context context_;
    const Module module_;
    const CUfunction assign_, move_;
    const Pinned<float> samples_, centres_;
    const Memory<float> on_gpu_samples_, on_gpu_centres_, sums_;
    const std::vector<Stream> streams_;
    const std::vector<Event> assigned_;
    const Event moved_;
};

} // namespace

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::kmeans
