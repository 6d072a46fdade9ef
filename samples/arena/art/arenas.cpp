// SPDX-License-Identifier: MIT
/* Images and categories go to the GPU, and matches come back. */
#include "samples/arena/art/problem.hpp"
#include "samples/arena/common/handing.hpp"

namespace ptsched::art {

namespace {

class ByArenas : public Recognition {
public:
    ByArenas(Problem &problem, const std::string &module, samples::Handing handing)
        : Recognition(problem, module), kernel_(gpu.module.find("scan_linked")), window_(handing),
          given_(window_.make("images", Data::bytes_to_gpu(problem.shape))),
          found_(window_.make("matches", Data::bytes_found(problem.shape))),
          data_(given_.resource(), found_.resource(), problem.shape)
    {
    }
    std::map<std::string, double> counts() const override { return window_.counts(); }

protected:
    Data &data() override { return data_; }

    void scan() override
    {
        window_.to_gpu(given_);
        window_.to_gpu(found_);
        end(samples::Part::copies);
        launch(kernel_, static_cast<const Category *>(data_.first), static_cast<const float *>(data_.image.data()),
               data_.matches.data());
        gpu.stream.finish();
        end(samples::Part::kernels);
        window_.to_host(given_, {});
        window_.to_host(found_, {samples::range_of(data_.matches)});
        end(samples::Part::copies);
    }

private:
    const CUfunction kernel_;
    samples::HandedWindow window_;
    arena::Arena given_, found_;
    Data data_;
};

} // namespace

std::unique_ptr<samples::Variant> by_arenas(Problem &problem, const std::string &module, samples::Handing handing)
{
    return std::make_unique<ByArenas>(problem, module, handing);
}

} // namespace ptsched::art
