// SPDX-License-Identifier: MIT
/* How a node divides its partitions among devices. What counts as a GPU here are cores. */
#include "libptsched/spmd/link/in_process.hpp"
#include "libptsched/spmd/run/member.hpp"
#include "tests/spmd/cache.hpp"
#include "tests/spmd/run/cases.hpp"

#include <cmath>

using namespace test;

namespace {

class CoresAsGpu final : public spmd::Engine {
public:
    explicit CoresAsGpu(const spmd::Program &program, std::uint64_t memory = 0)
        : memory_(memory), workers_(2), cores_(spmd::make_cpu_engine(program, workers_, 1 << 20))
    {
    }
    std::string name() const override { return "gpu 0"; }
    bool is_gpu() const override { return true; }
    std::uint64_t memory() const override { return memory_; }
    unsigned at_once() const override { return 2; }
    void start(const spmd::Piece &piece, spmd::Done done) override { cores_->start(piece, std::move(done)); }
    unsigned kept() const override { return cores_->kept(); }
    void collect(unsigned portion, spmd::Done done) override { cores_->collect(portion, std::move(done)); }
    void forget_pairs() override { cores_->forget_pairs(); }

private:
    const std::uint64_t memory_;
    spmd::Workers workers_;
    std::unique_ptr<spmd::Engine> cores_;
};

/* One rank with a CPU and a GPU. */
class Node {
public:
    Node(spmd::Work work, const spmd::Options &options)
        : work_(std::move(work)), link_(std::make_shared<spmd::Hub>(1)->link(0)), member_(options, *link_)
    {
        devices_ = member_.devices_for(work_.program);
        devices_.engines.push_back(cores_as_gpu(work_.program));
    }
    spmd::Member::Result run() { return member_.run(work_, devices_, {}, true); }

private:
    spmd::Work work_;
    std::unique_ptr<spmd::Link> link_;
    spmd::Member member_;
    spmd::Devices devices_;
};

Counts counts_of(const spmd::Member::Result &result)
{
    return as_map(spmd::PairList<spmd::Bytes, std::uint64_t>(result.pairs));
}

double error_of_p(const spmd::Member::Result &result, double p)
{
    return std::abs(result.report.p - p);
}

void all_splits_give_the_same()
{
    const std::string text = made_text(20000);
    auto job = word_count(text);
    for (const spmd::Split &split :
         {spmd::Split(spmd::Dynamic{}), spmd::Split(spmd::Static{}), spmd::Split(spmd::Static{0.3})}) {
        job.split = split;
        Node node(job.work(), of_ranks(1));
        for (int i = 0; i < 3; i++) {
            const auto result = node.run();
            CHECK(counts_of(result) == counted(text));
            /* Without a model, measured rates say what a static split is to have. */
            const bool asks = split.index() == 1 && !std::get<spmd::Static>(split).p;
            CHECK_EQ(result.report.model_p.has_value(), asks);
        }
    }
}

/* But for the size of a block, 5000 of 135000 bytes, for each of two partitions. */
void a_static_part_is_kept_to()
{
    const std::string text = made_text(20000);
    auto job = word_count(text);
    for (const double p : {0.0, 0.3, 1.0}) {
        job.split = spmd::Static{p};
        const auto result = Node(job.work(), of_ranks(1)).run();
        CHECK(counts_of(result) == counted(text));
        CHECK(error_of_p(result, p) < 0.1);
    }
}

void the_model_says_the_part()
{
    const std::string text = made_text(20000);
    auto job = word_count(text);
    job.split = spmd::Static{};
    job.intensity = spmd::model::Intensity{.cpu = 100, .gpu = 100};
    spmd::Options options = of_ranks(1);
    options.machine = spmd::model::Machine{};
    options.machine->cpu.peak.fp64 = 1e12;
    options.machine->cpu.dram = 1e11;
    options.machine->gpus.resize(1);
    options.machine->gpus[0].peak.fp64 = 3e12;
    options.machine->gpus[0].to_gpu = 1e11;
    options.machine->gpus[0].dram = 1e12;
    const auto result = Node(job.work(), options).run();
    CHECK(counts_of(result) == counted(text));
    CHECK(result.report.model_p.has_value());
    const double p =
        spmd::model::share(*options.machine, {.cpu = 100, .gpu = 100}, {.input = spmd::model::Where::gpu}).cpu;
    CHECK(std::abs(result.report.model_p.value_or(-1) - p) < 1e-12);
    CHECK(error_of_p(result, p) < 0.1);
    options.machine->gpus.clear();
    Node without(job.work(), options);
    CHECK(has(thrown_by([&] { without.run(); }), "Options::machine has 0 GPUs"));
}

/* Two threads have a half of what is known of four cores; of a machine without GPUs there is no model. */
void a_machine_is_found()
{
    const Cache cache;
    const std::string text = made_text(20000);
    auto job = word_count(text);
    job.block_bytes = 0; /* one that is said may be too large for a core */
    const spmd::model::Intensity intensity{.cpu = 1, .gpu = 1};
    job.intensity = intensity;
    for (const unsigned gpus : {1U, 0U}) {
        Cache::keep(made_up_machine(gpus));
        const auto result = Node(job.work(), of_ranks(1)).run();
        CHECK(counts_of(result) == counted(text));
        CHECK_EQ(result.report.model_p.has_value(), gpus > 0);
        spmd::model::Machine half = made_up_machine(gpus);
        half.cpu.peak = {100e9, 50e9};
        half.cpu.dram = 25e9;
        const spmd::model::Conditions stays{.input = spmd::model::Where::gpu};
        if (gpus > 0)
            CHECK(std::abs(*result.report.model_p - spmd::model::share(half, intensity, stays).cpu) < 1e-9);
    }
}

} // namespace

std::unique_ptr<spmd::Engine> test::cores_as_gpu(const spmd::Program &program, std::uint64_t memory)
{
    return std::make_unique<CoresAsGpu>(program, memory);
}

std::vector<tap::Case> test::device_cases()
{
    return {
        {"all splits give the same", all_splits_give_the_same},
        {"a static part is kept to", a_static_part_is_kept_to},
        {"the model says the part", the_model_says_the_part},
        {"a machine is found", a_machine_is_found},
    };
}
