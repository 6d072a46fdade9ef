/* SPDX-License-Identifier: MIT */
/* Points go to the GPU once, in chunks whose first iteration begins while others are copied. */
#ifndef SAMPLES_SPMD_COMMON_POINTS_BY_CUDA_HPP
#define SAMPLES_SPMD_COMMON_POINTS_BY_CUDA_HPP

#include "samples/spmd/common/hand.hpp"
#include "samples/spmd/common/points.hpp"

namespace ptsched::samples {

/* By the kernels add_points and add_parts of a module. */
template <typename Method> class PointsByCuda : public RankedWay {
public:
    PointsByCuda(PointsProblem<Method> &problem, const std::string &module)
        : RankedWay(problem.ranks), problem_(problem), gpu_(problem.ranks, module), add_(gpu_.find("add_points")),
          add_parts_(gpu_.find("add_parts")), chunks_(problem.share.count, Method::dimensions * sizeof(float)),
          parts_of_chunk_(Method::blocks * gpu_.multiprocessors()),
          chunk_count_((problem.share.count + chunks_.most_records() - 1) / chunks_.most_records()),
          points_(problem.points().size() + 1), on_gpu_model_(Method::model_floats),
          parts_(std::max<std::size_t>(chunk_count_, 1) * parts_of_chunk_ * sum_floats), on_gpu_sums_(sum_floats),
          sums_(sum_floats)
    {
    }
    void check_result() override { problem_.check(model_, "by MPI and CUDA"); }

    void compute() override
    {
        model_ = problem_.model();
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            std::copy(model_.begin(), model_.end(), staged_.data());
            driver::upload(on_gpu_model_.data(), staged_.data(), Method::model_floats, main_);
            has_model_.record(main_);
            const bool is_first = iteration == 0;
            if (is_first)
                copy_and_add();
            else
                add(0, problem_.share.count, 0, main_);
            driver::launch(add_parts_, main_, {(sum_floats + Method::threads - 1) / Method::threads}, {Method::threads},
                           static_cast<const float *>(parts_.data()), on_gpu_sums_.data(),
                           static_cast<unsigned>(is_first ? chunk_count_ * parts_of_chunk_ : parts_of_chunk_));
            driver::download(sums_.data(), on_gpu_sums_.data(), sum_floats, main_);
            main_.finish();
            ranks().add_up(sums_.all());
            Method::next_model(sums_.data(), problem_.shape.points, model_.data());
        }
    }

private:
    static constexpr unsigned sum_floats = sum_floats_of<Method>;

    void copy_and_add() const
    {
        chunks_.each([&](std::size_t first, std::size_t count, std::size_t, const driver::Stream &stream) {
            const std::size_t begin = first * Method::dimensions;
            driver::upload(points_.data() + begin, problem_.points().data() + begin, count * Method::dimensions,
                           stream);
            has_model_.hold_back(stream);
            add(first, count, first / chunks_.most_records(), stream);
        });
    }

    void add(std::size_t first, std::size_t count, std::size_t chunk, CUstream stream) const
    {
        driver::launch(add_, stream, {parts_of_chunk_}, {Method::threads},
                       static_cast<const float *>(points_.data() + first * Method::dimensions),
                       static_cast<const float *>(on_gpu_model_.data()),
                       parts_.data() + chunk * parts_of_chunk_ * sum_floats, static_cast<unsigned>(count));
    }

    PointsProblem<Method> &problem_;
    const RankGpu gpu_;
    const CUfunction add_, add_parts_;
    const Chunks chunks_;
    const unsigned parts_of_chunk_; /* blocks of threads */
    const std::size_t chunk_count_;
    const driver::Stream main_;
    const driver::Event has_model_;
    const driver::Memory<float> points_, on_gpu_model_, parts_;
    const driver::Memory<double> on_gpu_sums_;
    const Elements<float> staged_{Method::model_floats};
    const Elements<double> sums_;
    std::vector<float> model_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_POINTS_BY_CUDA_HPP */
