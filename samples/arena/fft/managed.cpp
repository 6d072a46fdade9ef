// SPDX-License-Identifier: MIT
/* The driver moves what is touched. */
#include "samples/arena/fft/problem.hpp"

namespace ptsched::fft {

namespace {

class Managed : public Recovery {
public:
    Managed(Problem &problem, const std::string &module)
        : Recovery(problem, module), memory_(Data::bytes(problem.shape)), data_(memory_, problem.shape)
    {
    }

protected:
    const Data &data() const override { return data_; }
    void begin() override {}

    void transform() override
    {
        launch_transform(data_.signal.data());
        finish();
    }

    void transform_back() override
    {
        launch_transform_back(data_.signal.data(), data_.measured.data());
        end(samples::Part::kernels);
    }

    void finish() override
    {
        gpu.stream.finish();
        end(samples::Part::kernels);
    }

private:
    samples::ManagedMemory memory_;
    const Data data_;
};

} // namespace

std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module)
{
    return std::make_unique<Managed>(problem, module);
}

} // namespace ptsched::fft
