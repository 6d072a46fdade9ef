// SPDX-License-Identifier: MIT
#include "samples/spmd/histogram/problem.hpp"

namespace ptsched::samples::histogram {

namespace {

constexpr std::size_t block = std::size_t{1} << 18; /* numbers */

class ByOpenmp : public RankedWay {
public:
    explicit ByOpenmp(Problem &problem) : RankedWay(problem.ranks), problem_(problem) {}
    void check_result() override { problem_.check(counts_, "by MPI and OpenMP"); }

    void compute() override
    {
        std::uint64_t counts[bins] = {};
        const std::uint32_t *const numbers = problem_.numbers().data();
        const std::size_t all = problem_.share.count;
#pragma omp parallel for schedule(static) reduction(+ : counts[:bins])
        for (std::size_t first = 0; first < all; first += block)
            count_numbers(numbers + first, std::min(block, all - first), counts);
        std::copy_n(counts, bins, counts_.begin());
        ranks().add_up(std::span<std::uint64_t>(counts_));
    }

private:
    Problem &problem_;
    Counts counts_ = {};
};

} // namespace

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<ByOpenmp>(problem);
}

} // namespace ptsched::samples::histogram
