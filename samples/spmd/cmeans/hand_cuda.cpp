// SPDX-License-Identifier: MIT
/* Points go to the GPU once, in chunks whose first iteration begins while others are copied. */
#include "samples/spmd/cmeans/problem.hpp"
#include "samples/spmd/common/hand.hpp"

namespace ptsched::samples::cmeans {

namespace {

using driver::launch;

class ByCuda : public RankedWay {
public:
    ByCuda(Problem &problem, const std::string &module)
        : RankedWay(problem.ranks), problem_(problem), gpu_(problem.ranks, module), add_(gpu_.find("add_points")),
          add_parts_(gpu_.find("add_parts")), chunks_(problem.share.count, dimensions * sizeof(float)),
          parts_of_chunk_(4 * gpu_.multiprocessors()),
          chunk_count_((problem.share.count + chunks_.most_records() - 1) / chunks_.most_records()),
          points_(problem.points().size() + 1), on_gpu_centres_(centre_floats),
          parts_(std::max<std::size_t>(chunk_count_, 1) * parts_of_chunk_ * sum_floats), on_gpu_sums_(sum_floats),
          sums_(sum_floats)
    {
    }
    void check_result() override { problem_.check(centres_, "by MPI and CUDA"); }

    void compute() override
    {
        centres_ = problem_.centres();
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            std::copy(centres_.begin(), centres_.end(), staged_.data());
            driver::upload(on_gpu_centres_.data(), staged_.data(), centre_floats, main_);
            has_centres_.record(main_);
            const bool is_first = iteration == 0;
            if (is_first)
                copy_and_add();
            else
                add(0, problem_.share.count, 0, main_);
            launch(add_parts_, main_, {(sum_floats + threads - 1) / threads}, {threads},
                   static_cast<const float *>(parts_.data()), on_gpu_sums_.data(),
                   static_cast<unsigned>(is_first ? chunk_count_ * parts_of_chunk_ : parts_of_chunk_));
            driver::download(sums_.data(), on_gpu_sums_.data(), sum_floats, main_);
            main_.finish();
            ranks().add_up(sums_.all());
            move_centres(sums_.data(), centres_.data());
        }
    }

private:
    void copy_and_add() const
    {
        chunks_.each([&](std::size_t first, std::size_t count, std::size_t, const driver::Stream &stream) {
            driver::upload(points_.data() + first * dimensions, problem_.points().data() + first * dimensions,
                           count * dimensions, stream);
            has_centres_.hold_back(stream);
            add(first, count, first / chunks_.most_records(), stream);
        });
    }

    void add(std::size_t first, std::size_t count, std::size_t chunk, CUstream stream) const
    {
        launch(add_, stream, {parts_of_chunk_}, {threads},
               static_cast<const float *>(points_.data() + first * dimensions),
               static_cast<const float *>(on_gpu_centres_.data()), parts_.data() + chunk * parts_of_chunk_ * sum_floats,
               static_cast<unsigned>(count));
    }

    Problem &problem_;
    const RankGpu gpu_;
    const CUfunction add_, add_parts_;
    const Chunks chunks_;
    const unsigned parts_of_chunk_; /* blocks of threads */
    const std::size_t chunk_count_;
    const driver::Stream main_;
    const driver::Event has_centres_;
    const driver::Memory<float> points_, on_gpu_centres_, parts_;
    const driver::Memory<double> on_gpu_sums_;
    const Elements<float> staged_{centre_floats};
    const Elements<double> sums_;
    std::vector<float> centres_;
};

} // namespace

std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module)
{
    return std::make_unique<ByCuda>(problem, module);
}

} // namespace ptsched::samples::cmeans
