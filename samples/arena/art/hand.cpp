// SPDX-License-Identifier: MIT
/* Each time the image is copied to the GPU, behind the list of categories as an array; matches come back. */
#include "samples/arena/art/problem.hpp"

namespace ptsched::art {

namespace {

using namespace samples::driver;

class ByHand : public Recognition {
public:
    ByHand(Problem &problem, const std::string &module)
        : Recognition(problem, module), kernel_(gpu.module.find("scan_flat")),
          pinned_(Data::bytes_to_gpu(problem.shape) + Data::bytes_found(problem.shape)),
          data_(pinned_, pinned_, problem.shape), staged_(most_categories), weights_(most_categories),
          image_(problem.shape.pixels()), matches_(problem.shape.windows())
    {
    }

protected:
    Data &data() override { return data_; }

    void scan() override
    {
        upload(image_.data(), data_.image.data(), data_.image.size(), gpu.stream);
        end(samples::Part::copies);
        unsigned count = 0;
        for (const Category *one = data_.first; one; one = one->next)
            staged_.data()[count++] = one->weights;
        end(samples::Part::serialising);
        upload(weights_.data(), staged_.data(), count, gpu.stream);
        end(samples::Part::copies);
        launch(kernel_, Flat{weights_.data(), count}, image_.data(), matches_.data());
        end(samples::Part::kernels);
        download(data_.matches.data(), matches_.data(), data_.matches.size(), gpu.stream);
        gpu.stream.finish();
        end(samples::Part::copies);
    }

private:
    const CUfunction kernel_;
    samples::PinnedMemory pinned_;
    Data data_;
    const Pinned<Weights> staged_;
    const Memory<Weights> weights_;
    const Memory<float> image_;
    const Memory<Match> matches_;
};

} // namespace

std::unique_ptr<samples::Variant> by_hand(Problem &problem, const std::string &module)
{
    return std::make_unique<ByHand>(problem, module);
}

} // namespace ptsched::art
