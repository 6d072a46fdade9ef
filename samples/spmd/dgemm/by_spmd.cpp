// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include "samples/spmd/dgemm/problem.hpp"
#include <ptsched/spmd/gpu_block.hpp>

namespace ptsched::samples::dgemm {

namespace {

using Row = std::uint64_t; /* its number */

/* On a core: each block reads all of B. */
constexpr std::size_t rows_of_block = 16;

double *doubles(device::Address address)
{
    return static_cast<double *>(device::host_pointer(address));
}

/* B on a GPU: a run's first block brings it, and those of other streams wait for that. */
class SharedB {
public:
    explicit SharedB(std::span<const double> b) : b_(b) {}
    /* Another run. The memory stays, as by hand. */
    void begin()
    {
        for (auto &[gpu, copy] : copies_)
            copy.is_brought = false;
    }
    const double *on(const spmd::GpuBlock &block)
    {
        const std::lock_guard lock(mutex_);
        Copy &copy = copies_[block.gpu()];
        if (!copy.memory)
            copy.memory = std::make_unique<driver::Memory<double>>(b_.size());
        if (!std::exchange(copy.is_brought, true)) {
            driver::upload(copy.memory->data(), b_.data(), b_.size(), block.stream());
            copy.is_there.record(block.stream());
        }
        copy.is_there.hold_back(block.stream());
        return copy.memory->data();
    }

private:
    struct Copy {
        std::unique_ptr<driver::Memory<double>> memory;
        bool is_brought = false;
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
          b_(std::make_shared<SharedB>(problem.b())),
          c_(problem.ranks.is_first() ? problem.shape.rows * problem.shape.columns : 0)
    {
    }
    void check_result() override { problem_.check(c_.all(), "by spmd, " + mode_.name); }

    void compute() override
    {
        b_->begin();
        note(settings_.cluster().run(job()));
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
            made.gpu.host.map = [b = b_, &on_gpu = on_gpu_, shape](spmd::GpuBlock &block) {
                const std::size_t rows = block.on_host().records;
                const device::Address c = block.allocate(rows * shape.columns * sizeof(double));
                on_gpu.multiply(block.stream(), {rows, shape.inner, shape.columns}, doubles(block.data()), b->on(block),
                                doubles(c));
                block.emit_numbered(c, shape.columns * sizeof(double));
            };
        made.block_bytes = rows_of_block * shape.inner * sizeof(double);
        made.output = {.where = spmd::Output::Where::root,
                       .value_bytes = shape.columns * sizeof(double),
                       .into = std::as_writable_bytes(c_.all())};
        const double flops = 2 * static_cast<double>(shape.columns) / sizeof(double);
        made.intensity = spmd::model::Intensity{.cpu = flops, .gpu = flops};
        settings_.choose(made, mode_, "");
        return made;
    }

    Problem &problem_;
    const SpmdSettings &settings_;
    const OnGpu &on_gpu_;
    const Mode mode_;
    const std::shared_ptr<SharedB> b_;
    const Elements<double> c_;
};

} // namespace

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const OnGpu &on_gpu, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, on_gpu, mode);
}

} // namespace ptsched::samples::dgemm
