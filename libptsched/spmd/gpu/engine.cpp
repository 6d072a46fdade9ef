// SPDX-License-Identifier: MIT
/* What maps on a GPU: a thread at a time for each stream, which waits for what it has given it. */
#include "libptsched/spmd/gpu/stream.hpp"
#include "libptsched/spmd/gpu/turn.hpp"
#include "libptsched/spmd/run/workers.hpp"

#include <algorithm>
#include <optional>

namespace ptsched::spmd {

namespace {

/* Copies to the GPU, its work, and copies back: as many pieces as there are of these are under way. */
constexpr unsigned usual_streams = 3;
/* From an iteration's end to the next one's begin it is not longer, if little is done between. */
constexpr std::chrono::microseconds linger{200};
/* Of a GPU's memory, a partition whose blocks are to lie together may have that part. */
constexpr std::uint64_t part_to_expect = 4;

class GpuEngine final : public Engine {
public:
    GpuEngine(device::Device &gpu, unsigned number, const Program &program, const GpuChoice &choice)
        : number_(number), memory_(device::memory_bytes(gpu).value_or(0)), program_(program),
          turns_(open_turns(gpu, choice.attach)), input_(memory_ ? memory_ / part_to_expect : ~std::uint64_t{0})
    {
        const Turn turn(turns_.get());
        if (!program.gpu.kernels.name.empty()) {
            functions_ = choice.functions ? choice.functions->get(gpu, program)
                                          : std::make_shared<const Functions>(gpu, program);
            functions_->compare(program);
        }
        const unsigned count = choice.streams ? choice.streams : usual_streams;
        for (unsigned i = 0; i < count; i++)
            streams_.push_back(
                std::make_unique<Stream>(gpu, static_cast<int>(number), program, functions_.get(), input_));
        threads_.emplace(count, linger);
    }

    std::string name() const override { return "gpu " + std::to_string(number_); }
    bool is_gpu() const override { return true; }
    unsigned number() const override { return number_; }
    std::uint64_t memory() const override { return memory_; }
    unsigned at_once() const override { return static_cast<unsigned>(streams_.size()); }
    /* Byte strings are read where the host has them. */
    unsigned host_threads() const override { return functions_ && functions_->traits().is_text ? at_once() : 0; }
    void start(const Piece &piece, Done done) override
    {
        give(
            [this, piece, done = std::move(done)](Stream &stream) { answer(done, [&] { return stream.map(piece); }); });
    }
    unsigned kept() const override
    {
        kept_.clear();
        for (const auto &stream : streams_)
            if (stream->keeps())
                kept_.push_back(stream.get());
        return static_cast<unsigned>(kept_.size());
    }
    /* Each is one stream's, and the streams have nothing else to do: it does not matter whose thread it is. */
    void collect(unsigned portion, Done done) override
    {
        give([this, from = kept_.at(portion), done = std::move(done)](Stream &) {
            answer(done, [&] { return from->collect(); });
        });
    }
    void expect_input(const schedule::Range &range) override { input_.expect(range); }
    bool has_input(const schedule::Range &range) const override { return input_.has(range); }
    void forget_input() override { input_.forget(); }
    void forget_pairs() override
    {
        for (const auto &stream : streams_)
            stream->forget();
    }

private:
    template <typename Function> void give(Function function)
    {
        threads_->give([this, function = std::move(function)](unsigned thread) {
            device::adopt_thread();
            function(*streams_[thread]);
        });
    }

    template <typename Function> void answer(const Done &done, const Function &function)
    {
        Pairs pairs(program_.key_width, program_.value_width);
        std::exception_ptr error;
        try {
            const Turn turn(turns_.get());
            pairs = function();
        } catch (...) {
            error = std::current_exception();
            pairs.clear();
        }
        done(std::move(pairs), std::move(error));
    }

    const unsigned number_;
    const std::uint64_t memory_;
    const Program &program_;
    const std::unique_ptr<device::Turns> turns_;
    std::shared_ptr<const Functions> functions_;
    KeptInput input_;
    std::vector<std::unique_ptr<Stream>> streams_;
    mutable std::vector<Stream *> kept_; /* that have some, when they were last asked */
    std::optional<Workers> threads_;     /* the last: each has the stream of its number */
};

std::vector<unsigned> chosen(const GpuChoice &choice)
{
    const auto count = static_cast<unsigned>(device::gpus().size());
    std::vector<unsigned> all;
    for (unsigned i = choice.host_rank % std::max(count, 1u); choice.which.empty() && i < count; i += choice.host_ranks)
        all.push_back(i);
    for (const unsigned number : choice.which)
        if (number >= count)
            throw Error("there is no GPU " + std::to_string(number) + ": there are " + std::to_string(count) +
                        ", whose numbers begin with 0");
    return choice.which.empty() ? all : choice.which;
}

} // namespace

std::vector<std::unique_ptr<Engine>> make_gpu_engines(const Program &program, const GpuChoice &choice)
{
    std::vector<std::unique_ptr<Engine>> engines;
    if (!program.on_gpu())
        return engines;
    if (!program.gpu.kernels.name.empty() && program.gpu.host.map)
        throw Error("a job has device functions and a host function for GPUs: one of the two is to be empty");
    for (const unsigned number : chosen(choice))
        engines.push_back(std::make_unique<GpuEngine>(*device::gpus().at(number), number, program, choice));
    return engines;
}

} // namespace ptsched::spmd
