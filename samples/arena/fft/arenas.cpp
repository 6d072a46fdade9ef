// SPDX-License-Identifier: MIT
/* The signal goes back and forth; what was measured stays where it is used. */
#include "samples/arena/common/handing.hpp"
#include "samples/arena/fft/problem.hpp"

namespace ptsched::fft {

namespace {

class ByArenas : public Recovery {
public:
    ByArenas(Problem &problem, const std::string &module, samples::Handing handing)
        : Recovery(problem, module), window_(handing),
          signal_(window_.make("signal", problem.shape.count() * sizeof(Sample))),
          measured_(window_.make("measured", problem.shape.count() * sizeof(Sample))),
          data_(signal_.resource(), measured_.resource(), problem.shape)
    {
    }
    std::map<std::string, double> counts() const override { return window_.counts(); }

protected:
    const Data &data() const override { return data_; }

    void begin() override
    {
        window_.to_gpu(measured_);
        window_.to_gpu(signal_);
        end(samples::Part::copies);
    }

    void transform() override
    {
        launch_transform(data_.signal.data());
        finish();
    }

    void transform_back() override
    {
        window_.to_gpu(signal_);
        end(samples::Part::copies);
        launch_transform_back(data_.signal.data(), data_.measured.data());
    }

    void finish() override
    {
        gpu.stream.finish();
        end(samples::Part::kernels);
        window_.to_host(signal_, {samples::range_of(data_.signal)});
        end(samples::Part::copies);
    }

    void take_back() override { window_.to_host(measured_, {}); }

private:
    samples::HandedWindow window_;
    arena::Arena signal_, measured_;
    const Data data_;
};

} // namespace

std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing)
{
    return std::make_unique<ByArenas>(problem, module, handing);
}

} // namespace ptsched::fft
