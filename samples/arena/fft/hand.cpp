// SPDX-License-Identifier: MIT
/* The spectrum is copied to the host and back; what was measured, once. */
#include "samples/arena/fft/problem.hpp"

namespace ptsched::fft {

namespace {

using namespace samples::driver;

class ByHand : public Recovery {
public:
    ByHand(Problem &problem, const std::string &module)
        : Recovery(problem, module), pinned_(Data::bytes(problem.shape)), data_(pinned_, problem.shape),
          signal_(problem.shape.count()), measured_(problem.shape.count())
    {
    }

protected:
    const Data &data() const override { return data_; }

    void begin() override
    {
        to_gpu();
        upload(measured_.data(), data_.measured.data(), data_.measured.size(), gpu.stream);
        end(samples::Part::copies);
    }

    void transform() override
    {
        launch_transform(signal_.data());
        end(samples::Part::kernels);
        to_host();
    }

    void transform_back() override
    {
        to_gpu();
        launch_transform_back(signal_.data(), measured_.data());
        end(samples::Part::kernels);
    }

    void finish() override { to_host(); }

private:
    void to_gpu()
    {
        upload(signal_.data(), data_.signal.data(), data_.signal.size(), gpu.stream);
        end(samples::Part::copies);
    }

    void to_host()
    {
        download(data_.signal.data(), signal_.data(), data_.signal.size(), gpu.stream);
        gpu.stream.finish();
        end(samples::Part::copies);
    }

    samples::PinnedMemory pinned_;
    const Data data_;
    const Memory<Sample> signal_, measured_;
};

} // namespace

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::fft
