// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include "samples/spmd/dgemm/problem.hpp"
#include <ptsched/spmd/gpu_block.hpp>

#include <cstring>

namespace ptsched::samples::dgemm {

namespace {

using Row = std::uint64_t; /* its number */

/* On a core: each block reads all of B. */
constexpr std::size_t rows_of_block = 16;

double *doubles(device::Address address)
{
    return static_cast<double *>(device::host_pointer(address));
}

/* B on a GPU: the first block brings it, and those of other streams wait for that. */
class SharedB {
public:
    explicit SharedB(std::span<const double> b) : b_(b) {}
    const double *on(const spmd::GpuBlock &block)
    {
        const std::lock_guard lock(mutex_);
        Copy &copy = copies_[block.gpu()];
        if (!copy.memory) {
            copy.memory = std::make_unique<driver::Memory<double>>(b_.size());
            driver::upload(copy.memory->data(), b_.data(), b_.size(), block.stream());
            copy.is_there.record(block.stream());
        }
        copy.is_there.hold_back(block.stream());
        return copy.memory->data();
    }

private:
    struct Copy {
        std::unique_ptr<driver::Memory<double>> memory;
        driver::Event is_there;
    };

    const std::span<const double> b_;
    std::mutex mutex_;
    std::map<int, Copy> copies_;
};

class BySpmd : public SpmdWay {
public:
    BySpmd(Problem &problem, const SpmdSettings &settings, const OnGpu &on_gpu, const Mode &mode)
        : SpmdWay(problem.ranks), problem_(problem), settings_(settings), on_gpu_(on_gpu), mode_(mode),
          c_(problem.ranks.is_first() ? problem.shape.rows * problem.shape.columns : 0)
    {
    }
    void check_result() override { problem_.check(c_, "by spmd, " + mode_.name); }

    void compute() override
    {
        const auto result = note(settings_.cluster().run(job()));
        if (!ranks().is_first())
            return;
        const std::size_t row_bytes = problem_.shape.columns * sizeof(double);
        in_parts(result.pairs().size(), 64, [&](std::size_t first, std::size_t count) {
            for (std::size_t i = first; i < first + count; i++)
                std::memcpy(&c_[result.pairs()[i].key * problem_.shape.columns], result.pairs()[i].value.data(),
                            row_bytes);
        });
    }

private:
    spmd::Job<Row, spmd::Bytes> job() const
    {
        const Shape shape = problem_.shape;
        spmd::Job<Row, spmd::Bytes> made;
        made.name = "dgemm";
        made.input =
            spmd::Input::memory(std::as_bytes(problem_.all_a()), spmd::Records::fixed(shape.inner * sizeof(double)));
        made.cpu.map = [&panels = problem_.panels(), shape](const spmd::Block &block,
                                                            spmd::Emitter<Row, spmd::Bytes> &out) {
            std::vector<double> c(block.records * shape.columns);
            panels.multiply(block.as<double>().data(), block.records, c.data());
            for (std::size_t row = 0; row < block.records; row++)
                out(block.first + row,
                    {reinterpret_cast<const char *>(&c[row * shape.columns]), shape.columns * sizeof(double)});
        };
        if (mode_.on_gpu)
            made.gpu.host.map = [b = std::make_shared<SharedB>(problem_.b()), &on_gpu = on_gpu_,
                                 shape](spmd::GpuBlock &block) {
                const std::size_t rows = block.on_host().records;
                const device::Address c = block.allocate(rows * shape.columns * sizeof(double));
                on_gpu.multiply(block.stream(), {rows, shape.inner, shape.columns}, doubles(block.data()), b->on(block),
                                doubles(c));
                block.emit_numbered(c, shape.columns * sizeof(double));
            };
        made.block_bytes = rows_of_block * shape.inner * sizeof(double);
        made.output.where = spmd::Output::Where::root;
        const double flops = 2 * static_cast<double>(shape.columns) / sizeof(double);
        made.intensity = spmd::model::Intensity{.cpu = flops, .gpu = flops};
        settings_.choose(made, mode_, "");
        return made;
    }

    Problem &problem_;
    const SpmdSettings &settings_;
    const OnGpu &on_gpu_;
    const Mode mode_;
    std::vector<double> c_;
};

} // namespace

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const OnGpu &on_gpu, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, on_gpu, mode);
}

} // namespace ptsched::samples::dgemm
