// SPDX-License-Identifier: MIT
/* Blocks go round the streams, so that copies to the GPU, its work and copies back go on side by side. */
#include "samples/common/driver.hpp"
#include "samples/tasks/saxpy/problem.hpp"

#include <array>

namespace ptsched::saxpy {

namespace {

using namespace samples::driver;

class ByHand : public samples::Way {
public:
    ByHand(Problem &problem, const std::string &module)
        : problem_(problem), module_(module), kernel_(module_.find("saxpy")), x_(problem.shape.count),
          y_(problem.shape.count), on_gpu_x_(problem.shape.count), on_gpu_y_(problem.shape.count)
    {
    }
    void restore() override { problem_.restore(x_.data(), y_.data()); }
    void check() override { problem_.check(y_.all(), "by hand"); }

    void run() override
    {
        const auto [count, block] = problem_.shape;
        const auto size = static_cast<unsigned>(block);
        for (std::size_t first = 0; first < count; first += block) {
            const Stream &stream = streams_[first / block % streams_.size()];
            float *const x = on_gpu_x_.data() + first, *const y = on_gpu_y_.data() + first;
            upload(x, x_.data() + first, block, stream);
            upload(y, y_.data() + first, block, stream);
            launch(kernel_, stream, {(size + threads - 1) / threads}, {threads}, a, x, y, size);
            download(y_.data() + first, y, block, stream);
        }
        for (const Stream &stream : streams_)
            stream.finish();
    }

private:
    Problem &problem_;
    const Context context_;
    const Module module_;
    const CUfunction kernel_;
    const Pinned<float> x_, y_;
    const Memory<float> on_gpu_x_, on_gpu_y_;
    const std::array<Stream, 4> streams_;
};

} // namespace

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::saxpy
