// SPDX-License-Identifier: MIT
#include "samples/spmd/common/hand.hpp"
#include "samples/spmd/gemv/problem.hpp"

namespace ptsched::samples::gemv {

namespace {

constexpr unsigned rows_of_block = 8, threads = 256;

class ByCuda : public RankedWay {
public:
    ByCuda(Problem &problem, const std::string &module)
        : RankedWay(problem.ranks), problem_(problem), gpu_(problem.ranks, module), multiply_(gpu_.find("multiply")),
          chunks_(problem.share.count, problem.shape.columns * sizeof(float)),
          a_(Chunks::streams * chunks_.most_records() * problem.shape.columns), x_(problem.shape.columns),
          on_gpu_y_(problem.share.count + 1), own_(problem.share.count), y_(problem.shape.rows)
    {
    }
    void check_result() override { problem_.check(y_, "by MPI and CUDA"); }

    void compute() override
    {
        using namespace driver;
        const std::size_t columns = problem_.shape.columns;
        upload(x_.data(), problem_.x().data(), columns, begin_);
        has_x_.record(begin_);
        chunks_.each([&](std::size_t first, std::size_t count, std::size_t number, const Stream &stream) {
            float *const a = a_.data() + number * chunks_.most_records() * columns;
            upload(a, problem_.a().data() + first * columns, count * columns, stream);
            has_x_.hold_back(stream);
            const auto rows = static_cast<unsigned>(count);
            launch(multiply_, stream, {(rows + rows_of_block - 1) / rows_of_block}, {threads},
                   static_cast<const float *>(a), static_cast<const float *>(x_.data()), on_gpu_y_.data() + first, rows,
                   static_cast<unsigned>(columns));
            download(own_.data() + first, on_gpu_y_.data() + first, count, stream);
        });
        ranks().gather(std::span<const float>(own_.all()), problem_.shape.rows, 1, y_.data());
    }

private:
    Problem &problem_;
    const RankGpu gpu_;
    const CUfunction multiply_;
    const Chunks chunks_;
    const driver::Stream begin_;
    const driver::Event has_x_;
    const driver::Memory<float> a_, x_, on_gpu_y_;
    const Elements<float> own_;
    std::vector<float> y_;
};

} // namespace

std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module)
{
    return std::make_unique<ByCuda>(problem, module);
}

} // namespace ptsched::samples::gemv
