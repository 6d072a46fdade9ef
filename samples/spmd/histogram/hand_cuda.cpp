// SPDX-License-Identifier: MIT
#include "samples/spmd/common/hand.hpp"
#include "samples/spmd/histogram/problem.hpp"

namespace ptsched::samples::histogram {

namespace {

class ByCuda : public RankedWay {
public:
    ByCuda(Problem &problem, const std::string &module)
        : RankedWay(problem.ranks), problem_(problem), gpu_(problem.ranks, module), count_(gpu_.find("count_numbers")),
          chunks_(problem.share.count, sizeof(std::uint32_t)), numbers_(Chunks::streams * stride()),
          on_gpu_counts_(bins), counts_(bins)
    {
    }
    void check_result() override
    {
        Counts counts;
        std::copy_n(counts_.data(), bins, counts.begin());
        problem_.check(counts, "by MPI and CUDA");
    }

    void compute() override
    {
        using namespace driver;
        driver::check(cuMemsetD32Async(address(on_gpu_counts_.data()), 0, 2 * bins, main_));
        is_clear_.record(main_);
        chunks_.each([&](std::size_t first, std::size_t count, std::size_t number, const Stream &stream) {
            std::uint32_t *const numbers = numbers_.data() + number * stride();
            upload(numbers, problem_.numbers().data() + first, count, stream);
            is_clear_.hold_back(stream);
            launch(count_, stream, {4 * gpu_.multiprocessors()}, {threads}, static_cast<const std::uint32_t *>(numbers),
                   on_gpu_counts_.data(), static_cast<unsigned>(count));
        });
        download(counts_.data(), on_gpu_counts_.data(), bins, main_);
        main_.finish();
        ranks().add_up(counts_.all());
    }

private:
    /* Of the streams' chunks on the GPU, whose numbers are read by four. */
    std::size_t stride() const { return (chunks_.most_records() + 3) / 4 * 4; }

    Problem &problem_;
    const RankGpu gpu_;
    const CUfunction count_;
    const Chunks chunks_;
    const driver::Stream main_;
    const driver::Event is_clear_;
    const driver::Memory<std::uint32_t> numbers_;
    const driver::Memory<std::uint64_t> on_gpu_counts_;
    const Elements<std::uint64_t> counts_;
};

} // namespace

std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module)
{
    return std::make_unique<ByCuda>(problem, module);
}

} // namespace ptsched::samples::histogram
