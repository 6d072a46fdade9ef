// SPDX-License-Identifier: MIT
/*
 * A stream for each band, which waits for the neighbours' last step: so bands compute while others are copied. Of what
 * a step writes, a step before has been read by the neighbours, which have been waited for.
 */
#include "samples/common/driver.hpp"
#include "samples/tasks/hotspot/problem.hpp"

#include <array>

namespace ptsched::hotspot {

namespace {

using namespace samples::driver;

class ByHand : public samples::Way {
public:
    ByHand(Problem &problem, const std::string &module)
        : problem_(problem), module_(module), kernel_(module_.find("heat_band")), temperature_(problem.shape.cells()),
          power_(problem.shape.cells()),
          on_gpu_power_(problem.shape.cells()), buffers_{Memory<float>(problem.shape.cells()),
                                                         Memory<float>(problem.shape.cells())},
          streams_(problem.shape.bands), done_{std::vector<Event>(problem.shape.bands),
                                               std::vector<Event>(problem.shape.bands)}
    {
    }
    void restore() override { problem_.restore(temperature_.data(), power_.data()); }
    void check() override { problem_.check(temperature_.all(), "by hand"); }

    void run() override
    {
        const auto [side, bands, steps] = problem_.shape;
        const std::size_t cells = problem_.shape.band_cells();
        for (unsigned band = 0; band < bands; band++) {
            upload(buffers_[0].data() + band * cells, temperature_.data() + band * cells, cells, streams_[band]);
            done_[0][band].record(streams_[band]);
            upload(on_gpu_power_.data() + band * cells, power_.data() + band * cells, cells, streams_[band]);
        }
        for (unsigned step = 0; step < steps; step++)
            for (unsigned band = 0; band < bands; band++)
                do_step(step, band);
        for (unsigned band = 0; band < bands; band++)
            download(temperature_.data() + band * cells, buffers_[steps % 2].data() + band * cells, cells,
                     streams_[band]);
        for (const Stream &stream : streams_)
            stream.finish();
    }

private:
    void do_step(unsigned step, unsigned band)
    {
        const Shape &shape = problem_.shape;
        const Stream &stream = streams_[band];
        const unsigned above = band ? band - 1 : band, below = band + 1 < shape.bands ? band + 1 : band;
        for (const unsigned neighbour : {above, below})
            if (neighbour != band)
                done_[step % 2][neighbour].hold_back(stream);
        const auto of = [&](const float *buffer, unsigned which) { return buffer + which * shape.band_cells(); };
        const float *const old = buffers_[step % 2].data();
        launch(kernel_, stream, {(shape.side + threads_x - 1) / threads_x, (shape.rows() + threads_y - 1) / threads_y},
               {threads_x, threads_y}, problem_.chip, of(old, above), of(old, band), of(old, below),
               of(on_gpu_power_.data(), band), buffers_[(step + 1) % 2].data() + band * shape.band_cells(),
               shape.rows(), shape.side, unsigned{above == band}, unsigned{below == band});
        done_[(step + 1) % 2][band].record(stream);
    }

    Problem &problem_;
    const Context context_;
    const Module module_;
    const CUfunction kernel_;
    const Pinned<float> temperature_, power_;
    const Memory<float> on_gpu_power_;
    const std::array<Memory<float>, 2> buffers_;
    const std::vector<Stream> streams_;
    const std::array<std::vector<Event>, 2> done_; /* of even steps and odd ones: the content of that buffer */
};

} // namespace

std::unique_ptr<samples::Way> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::hotspot
