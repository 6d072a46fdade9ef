// SPDX-License-Identifier: MIT
#include "samples/spmd/common/hand.hpp"
#include "samples/spmd/dgemm/problem.hpp"

namespace ptsched::samples::dgemm {

namespace {

class ByCuda : public RankedWay {
public:
    ByCuda(Problem &problem, const Settings &settings, const OnGpu &on_gpu)
        : RankedWay(problem.ranks), problem_(problem), gpu_(problem.ranks, settings.module), on_gpu_(on_gpu),
          chunks_(problem.share.count, std::max(problem.shape.inner, problem.shape.columns) * sizeof(double)),
          a_(Chunks::streams * chunks_.most_records() * problem.shape.inner), b_(problem.b().size()),
          on_gpu_c_(Chunks::streams * chunks_.most_records() * problem.shape.columns),
          own_(problem.share.count * problem.shape.columns),
          c_(problem.ranks.is_first() ? problem.shape.rows * problem.shape.columns : 0)
    {
    }
    void check_result() override { problem_.check(c_, "by MPI and CUDA"); }

    void compute() override
    {
        using namespace driver;
        const auto [rows, inner, columns] = problem_.shape;
        upload(b_.data(), problem_.b().data(), problem_.b().size(), begin_);
        has_b_.record(begin_);
        chunks_.each([&, inner = inner, columns = columns](std::size_t first, std::size_t count, std::size_t number,
                                                           const Stream &stream) {
            double *const a = a_.data() + number * chunks_.most_records() * inner;
            double *const c = on_gpu_c_.data() + number * chunks_.most_records() * columns;
            upload(a, problem_.a().data() + first * inner, count * inner, stream);
            has_b_.hold_back(stream);
            on_gpu_.multiply(stream, {count, inner, columns}, a, b_.data(), c);
            download(own_.data() + first * columns, c, count * columns, stream);
        });
        ranks().gather(std::span<const double>(own_.all()), rows, columns, c_.data());
    }

private:
    Problem &problem_;
    const RankGpu gpu_;
    const OnGpu &on_gpu_;
    const Chunks chunks_;
    const driver::Stream begin_;
    const driver::Event has_b_;
    const driver::Memory<double> a_, b_, on_gpu_c_;
    const Elements<double> own_;
    std::vector<double> c_;
};

} // namespace

std::unique_ptr<Way> by_cuda(Problem &problem, const Settings &settings, const OnGpu &on_gpu)
{
    return std::make_unique<ByCuda>(problem, settings, on_gpu);
}

} // namespace ptsched::samples::dgemm
