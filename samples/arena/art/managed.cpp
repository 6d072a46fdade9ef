// SPDX-License-Identifier: MIT
/* The driver moves what is touched; pointers are valid on both sides. */
#include "samples/arena/art/problem.hpp"

namespace ptsched::art {

namespace {

class Managed : public Recognition {
public:
    Managed(Problem &problem, const std::string &module)
        : Recognition(problem, module), kernel_(gpu.module.find("scan_linked")),
          memory_(Data::bytes_to_gpu(problem.shape) + Data::bytes_found(problem.shape)),
          data_(memory_, memory_, problem.shape)
    {
    }

protected:
    Data &data() override { return data_; }

    void scan() override
    {
        launch(kernel_, static_cast<const Category *>(data_.first), static_cast<const float *>(data_.image.data()),
               data_.matches.data());
        gpu.stream.finish();
        end(samples::Part::kernels);
    }

private:
    const CUfunction kernel_;
    samples::ManagedMemory memory_;
    Data data_;
};

} // namespace

std::unique_ptr<samples::Variant> managed(Problem &problem, const std::string &module)
{
    return std::make_unique<Managed>(problem, module);
}

} // namespace ptsched::art
