// SPDX-License-Identifier: MIT
/* Who is to have what, in blocks of what size, before anything runs; and where a kept job's partitions go. */
#include "libptsched/spmd/run/plan.hpp"

#include "libptsched/spmd/link/in_process.hpp"
#include "libptsched/spmd/model/blocks.hpp"
#include "libptsched/spmd/run/chief.hpp"
#include "tests/spmd/cache.hpp"
#include "tests/spmd/run/cases.hpp"

#include <bit>
#include <cmath>

using namespace test;
namespace model = ptsched::spmd::model;

namespace {

constexpr std::uint64_t partition = 1 << 30;
constexpr model::Conditions streamed{.path = model::Path::streamed},
    resident{.input = model::Where::gpu, .path = model::Path::streamed};

/* A rank of two cores and a GPU that has two streams, and what its plans are made of. */
struct Setup {
    explicit Setup(double intensity, std::uint64_t memory = 0)
        : job(word_count(text)), link(std::make_shared<spmd::Hub>(1)->link(0)), member(of_ranks(1), *link)
    {
        job.intensity = both = {.cpu = intensity, .gpu = intensity, .precision = model::Precision::fp64};
        work = job.work();
        work.block_bytes = 0;
        devices = member.devices_for(work.program);
        devices.engines.push_back(cores_as_gpu(work.program, memory));
        known.machine = made_up_machine();
        known.machine->cpu.cores = 2;
        known.is_given = true;
    }
    spmd::Plan plan() const { return spmd::make_plan(work, devices, known, partition, 1); }
    model::Blocks blocks(const model::Conditions &conditions = streamed, const model::BlockOptions &options = {}) const
    {
        return model::blocks(*known.machine, both, conditions, model::share(*known.machine, both, conditions),
                             partition, options);
    }

    const std::string text = made_text(1000);
    model::Intensity both;
    spmd::Job<spmd::Bytes, std::uint64_t> job;
    std::unique_ptr<spmd::Link> link;
    spmd::Member member;
    spmd::Work work;
    spmd::Devices devices;
    spmd::Known known;
};

/* Of this machine, transfers and computing take the same time at 120 flop/byte. */
void blocks_are_the_models()
{
    for (const double intensity : {0.1, 120.0}) {
        const Setup setup(intensity);
        const model::Blocks sizes = setup.blocks();
        const spmd::Plan plan = setup.plan();
        CHECK_EQ(plan.mappers.size(), 2U);
        const auto &cpu = plan.mappers.at(0).part, &gpu = plan.mappers.at(1).part;
        CHECK_EQ(cpu.bytes, std::min<std::uint64_t>(sizes.cpu.bytes, 16 << 20));
        CHECK_EQ(cpu.least, sizes.cpu.least);
        CHECK_EQ(cpu.at_once, 2U);
        CHECK_EQ(gpu.bytes, sizes.gpus[0].bytes);
        CHECK_EQ(gpu.least, sizes.gpus[0].least);
        CHECK_EQ(gpu.at_once, 2U);
        CHECK_EQ(gpu.at_once, sizes.gpus[0].at_once);
        CHECK(gpu.streams && !cpu.streams);
        CHECK(std::abs(gpu.latency - 1e-5) < 1e-12);
        CHECK(plan.rate > 0 && plan.guess > 0);
    }
}

/* (11) */
void blocks_reach_the_peak()
{
    Setup setup(120);
    setup.work.intensity_of = [](double bytes) { return std::sqrt(bytes) / 100; };
    const auto gpu = setup.plan().mappers.at(1).part;
    const model::Blocks sizes = setup.blocks(streamed, {.intensity_of = setup.work.intensity_of});
    CHECK(sizes.gpus[0].min_block.has_value());
    CHECK(static_cast<double>(gpu.bytes) >= *sizes.gpus[0].min_block - 1);
    CHECK_EQ(gpu.bytes, sizes.gpus[0].bytes);
}

void memory_is_the_limit()
{
    constexpr std::uint64_t memory = 8 << 20;
    for (const bool knows : {true, false}) {
        Setup setup(120, memory);
        if (!knows)
            setup.known.machine.reset();
        const auto gpu = setup.plan().mappers.at(1).part;
        CHECK(gpu.bytes >= 1 && gpu.bytes * gpu.at_once <= memory / 4);
    }
}

void what_a_job_says_of_blocks()
{
    Setup setup(120);
    setup.work.block_bytes = 12345;
    const std::uint64_t of_model = setup.blocks().gpus[0].bytes;
    CHECK_EQ(setup.plan().mappers.at(0).part.bytes, 12345U);
    CHECK_EQ(setup.plan().mappers.at(1).part.bytes, of_model);
    setup.work.ordered = true;
    const spmd::Plan plan = setup.plan();
    for (const spmd::Mapper &mapper : plan.mappers) {
        CHECK_EQ(mapper.part.bytes, 12345U);
        CHECK_EQ(mapper.part.at_once, 2U);
    }
}

/* Those of an earlier run, if each device has one. */
void rates_of_an_earlier_run()
{
    Setup setup(1);
    setup.known.machine.reset();
    CHECK(setup.plan().rate <= 0);
    const double guess = setup.plan().guess;
    setup.devices.rates = {1e9, 3e9};
    CHECK(std::abs(setup.plan().mappers.at(1).part.rate - 3e9) < 1 && std::abs(setup.plan().rate - 4e9) < 1);
    CHECK(std::abs(setup.plan().guess - guess) < 1e-9);
    setup.devices.rates = {1e9, 0};
    CHECK(setup.plan().rate <= 0);
}

/* (12): they are what the model says, then. */
void rates_are_better_than_the_model()
{
    Setup setup(1);
    setup.work.split = spmd::Static{};
    const spmd::Plan by_model = setup.plan();
    setup.devices.rates = {1e9, 3e9};
    const spmd::Plan plan = setup.plan();
    CHECK(std::abs(plan.model_p.value_or(-1) - 0.25) < 1e-12);
    CHECK(std::abs(plan.mappers.at(1).part.share - 0.75) < 1e-12);
    CHECK(std::abs(by_model.model_p.value_or(0.25) - 0.25) > 0.01);
    /* A part that is said is kept to. */
    setup.work.split = spmd::Static{0.5};
    CHECK(std::abs(setup.plan().mappers.at(0).part.share - 0.5) < 1e-12);
}

/* Those of a job are of the same devices, and each run counts for a half. */
void rates_are_learnt()
{
    Setup setup(1);
    const auto known = [&](bool kept) { return setup.member.known_rates(setup.work.program, setup.devices, kept); };
    setup.member.learn_rates(setup.work.program, setup.devices, false, {4e9, 0});
    CHECK(known(false).empty());
    setup.member.learn_rates(setup.work.program, setup.devices, false, {4e9, 8e9});
    setup.member.learn_rates(setup.work.program, setup.devices, false, {2e9, 16e9});
    CHECK(known(true).empty());
    CHECK_EQ(known(false).size(), 2U);
    CHECK(std::abs(known(false).at(0) - 3e9) < 1 && std::abs(known(false).at(1) - 12e9) < 1);
    setup.member.learn_rates(setup.work.program, setup.devices, true, {4e9, 8e9});
    setup.member.learn_rates(setup.work.program, setup.devices, true, {1e9, 16e9});
    CHECK(std::abs(known(true).at(0) - 3.8e9) < 1 && std::abs(known(true).at(1) - 12e9) < 1);
    setup.devices.engines.pop_back();
    CHECK(known(false).empty());
}

/* The GPUs of a kept job have their input, if it has room. */
void input_that_stays()
{
    Setup setup(1);
    setup.work.split = spmd::Static{};
    setup.known.again = true;
    const double p = model::share(*setup.known.machine, setup.both, resident).cpu;
    CHECK(std::abs(setup.plan().model_p.value_or(-1) - p) < 1e-12);
    CHECK(!setup.plan().stays);
    setup.devices.homes = {{0, {0, 100}}, {1, {100, 200}}};
    CHECK(setup.plan().stays);
    Setup tight(1, 1000);
    tight.known.again = true;
    const double p_of_bus = model::share(*setup.known.machine, setup.both, streamed).cpu;
    CHECK(std::abs(tight.plan().model_p.value_or(-1) - p_of_bus) < 1e-12);
}

/* Without a model it moves if a device is to have another part by now. */
void input_that_moves()
{
    Setup setup(1);
    setup.known.machine.reset();
    setup.known.again = true;
    setup.work.split = spmd::Static{};
    setup.devices.homes = {{0, {0, 100}}, {1, {100, 400}}};
    setup.devices.rates = {1.1e9, 3e9};
    CHECK(setup.plan().stays);
    setup.devices.rates = {2e9, 3e9};
    CHECK(!setup.plan().stays);
    CHECK(std::abs(setup.plan().model_p.value_or(-1) - 0.4) < 1e-12);
    setup.work.split = spmd::Dynamic{};
    CHECK(setup.plan().stays);
}

/* A GPU that has all of the input, and is never given anything. */
class FullGpu final : public spmd::Engine {
public:
    std::string name() const override { return "gpu 0"; }
    bool is_gpu() const override { return true; }
    unsigned at_once() const override { return 2; }
    void start(const spmd::Piece &, spmd::Done) override {}
    unsigned kept() const override { return 0; }
    void collect(unsigned, spmd::Done) override {}
    bool has_input(const spmd::schedule::Range &) const override { return true; }
    void forget_pairs() override {}
};

/* Whether it had a part in the last run or not, cores that cost too much have none. */
void cores_that_cost_too_much()
{
    for (const spmd::Split &split : {spmd::Split(spmd::Static{}), spmd::Split(spmd::Dynamic{})})
        for (const double latency : {0.0, 1.0})
            for (const bool was_run : {false, true}) {
                Setup setup(1);
                setup.devices.engines.back() = std::make_unique<FullGpu>();
                setup.devices.rates = {1e7, 1e9};
                setup.known.again = true;
                setup.known.machine->cpu.latency = latency;
                setup.work.split = split;
                if (was_run)
                    setup.devices.homes = {{0, {0, 10}}, {1, {10, 1000}}};
                const spmd::Plan plan = setup.plan();
                const auto &cpu = plan.mappers.at(0).part, &gpu = plan.mappers.at(1).part;
                const bool has_part = !(latency > 0);
                CHECK_EQ(cpu.share > 0, has_part);
                CHECK_EQ(cpu.rate > 0, has_part);
                CHECK(std::abs(gpu.share + cpu.share - 1) < 1e-12);
                CHECK_EQ(plan.is_resident, was_run);
                CHECK_EQ(plan.moves, was_run && !has_part);
            }
}

/* A part that is small is worth a try without it, and what is faster then. */
void cores_that_hold_up_more_than_they_help()
{
    using Way = spmd::Ways::Way;
    struct Case {
        Way with_cores, gpus_alone;
        double cores_rate;
        bool has_part;
    };
    const Case cases[] = {{{}, {}, 1e8, true},
                          {{1e9, 1}, {}, 1e8, true},
                          {{1e9, 2}, {}, 1e8, false},
                          {{1e9, 2}, {9e8, 1}, 1e8, true},
                          {{1e9, 2}, {2e9, 1}, 1e8, false},
                          {{1e9, 2}, {2e9, 1}, 1e9, true}};
    for (const bool has_model : {true, false})
        for (const spmd::Split &split : {spmd::Split(spmd::Static{}), spmd::Split(spmd::Dynamic{})})
            for (const Case &one : cases) {
                Setup setup(1);
                if (!has_model)
                    setup.known.machine.reset();
                setup.devices.rates = {one.cores_rate, 1e9};
                setup.known.ways = {one.with_cores, one.gpus_alone};
                setup.work.split = split;
                const spmd::Plan plan = setup.plan();
                CHECK_EQ(plan.mappers.at(0).part.rate > 0, one.has_part);
                if (std::holds_alternative<spmd::Static>(split)) {
                    CHECK_EQ(plan.model_p.value_or(0) > 0, one.has_part);
                    CHECK(std::abs(plan.mappers[0].part.share + plan.mappers[1].part.share - 1) < 1e-12);
                    CHECK(plan.mappers[1].part.share <= 1);
                }
                setup.work.split = spmd::Static{0.1};
                CHECK(setup.plan().mappers.at(0).part.rate > 0);
            }
}

/* Rank 0's part of a run of two ranks, whose messages are those of this. */
class Ranks {
public:
    Ranks(const spmd::Work &work, std::vector<spmd::schedule::Home> homes, double rate = 1e9, bool is_kept = false)
        : links_{hub_->link(0), hub_->link(1)}, member_(of_ranks(2), *links_[0]),
          spill_(std::make_shared<spmd::Spill>(1 << 20, "")),
          chief_(member_, work, {}, 1, spill_, watch_, std::move(homes), is_kept)
    {
        for (unsigned rank = 0; rank < 2; rank++)
            tell(rank, {.tag = spmd::Tag::hello,
                        .run = 1,
                        .a = spmd::hash_of_job(work),
                        .b = std::bit_cast<std::uint64_t>(rank ? rate : 1e9),
                        .c = std::bit_cast<std::uint64_t>(1.0)});
    }
    /* What a rank gets that asks. */
    std::optional<spmd::schedule::Range> ask(unsigned rank)
    {
        tell(rank, {.tag = spmd::Tag::want, .run = 1});
        while (const auto message = links_[rank]->receive(std::chrono::milliseconds(0))) {
            const spmd::Head head = spmd::head_of(message->bytes);
            if (head.tag != spmd::Tag::part)
                continue;
            parts_[rank].push_back(head.a);
            return spmd::schedule::Range{head.b, head.c};
        }
        return std::nullopt;
    }
    void end_all()
    {
        for (unsigned rank = 0; rank < 2; rank++)
            for (const std::uint64_t id : std::exchange(parts_[rank], {}))
                tell(rank, {.tag = spmd::Tag::done, .run = 1, .a = id});
    }
    std::vector<spmd::schedule::Home> homes() const { return chief_.homes(); }

private:
    void tell(unsigned from, const spmd::Head &head) { chief_.handle({from, spmd::make_message(head)}); }

    std::shared_ptr<spmd::Hub> hub_ = std::make_shared<spmd::Hub>(2);
    std::array<std::unique_ptr<spmd::Link>, 2> links_;
    spmd::Member member_;
    std::shared_ptr<spmd::Spill> spill_;
    spmd::Stopwatch watch_;
    spmd::Chief chief_;
    std::array<std::vector<std::uint64_t>, 2> parts_;
};

/* Whoever asks first. */
void partitions_go_where_they_were()
{
    const std::string text = made_text(20000);
    const spmd::Work work = word_count(text).work();
    Ranks first(work, {});
    const auto of_one = first.ask(1), of_zero = first.ask(0);
    CHECK(of_one && of_zero && of_one->begin == 0);
    for (unsigned i = 0; i < 100; i++) {
        first.end_all();
        first.ask(i % 2);
    }
    std::uint64_t bytes = 0;
    for (const spmd::schedule::Home &home : first.homes())
        bytes += home.range.size();
    CHECK_EQ(bytes, text.size());
    Ranks second(work, first.homes());
    CHECK(second.ask(0) == of_zero);
    CHECK(second.ask(1) == of_one);
}

/* Of a kept job, each rank has one part, which is another one only if it takes much longer than it has to. */
void a_kept_job_has_a_part_for_each_rank()
{
    using Ranges = std::vector<spmd::schedule::Range>;
    const std::string text = made_text(20000);
    const std::uint64_t all = text.size();
    for (const bool is_ordered : {false, true}) {
        auto job = word_count(text);
        job.ordered = is_ordered;
        job.block_bytes = 1000;
        const spmd::Work work = job.work();
        const auto parts = [&](std::vector<spmd::schedule::Home> homes, double rate) {
            Ranks ranks(work, std::move(homes), rate, true);
            const auto zero = ranks.ask(0), one = ranks.ask(1);
            CHECK(zero && one && zero->begin == 0 && zero->end == one->begin && one->end == all);
            ranks.end_all();
            CHECK_EQ(ranks.homes().size(), 2U);
            return Ranges{zero.value_or(spmd::schedule::Range{}), one.value_or(spmd::schedule::Range{})};
        };
        const auto near = [&](std::uint64_t bytes, double part) {
            return std::abs(static_cast<double>(bytes) - part * static_cast<double>(all)) < 1100;
        };
        const Ranges alike = parts({}, 1e9), unequal = parts({}, 3e9);
        CHECK(near(alike[0].end, 0.5) && near(unequal[0].end, 0.25));
        CHECK(parts({}, 1.04e9) == alike);
        CHECK(parts({{0, alike[0]}, {1, alike[1]}}, 1.02e9) == alike);
        CHECK(parts({{0, alike[0]}, {1, alike[1]}}, 3e9) == unequal);
    }
}

/* Bytes per second are not compared with guesses. */
void rates_have_one_unit()
{
    const std::string text = made_text(20000);
    const spmd::Work work = word_count(text).work();
    Ranks unequal(work, {}, 3e9), unknown(work, {}, 0);
    const std::uint64_t fast = unequal.ask(1)->size(), slow = unequal.ask(0)->size();
    CHECK(fast > 2 * slow);
    /* What combines has fewer partitions if it is known who is how fast. */
    CHECK(3 * (fast + slow) > 2 * text.size());
    const std::uint64_t one = unknown.ask(1)->size(), other = unknown.ask(0)->size();
    CHECK(one < 2 * other && other < 2 * one);
    CHECK(3 * (one + other) < 2 * text.size());
}

} // namespace

std::vector<tap::Case> test::plan_cases()
{
    return {
        {"blocks are the model's", blocks_are_the_models},
        {"blocks reach a GPU's peak", blocks_reach_the_peak},
        {"a GPU's memory is the limit of its blocks", memory_is_the_limit},
        {"what a job says of blocks", what_a_job_says_of_blocks},
        {"rates of an earlier run", rates_of_an_earlier_run},
        {"a kept job's input stays", input_that_stays},
        {"a kept job's input moves", input_that_moves},
        {"cores that cost too much", cores_that_cost_too_much},
        {"cores that hold up more than they help", cores_that_hold_up_more_than_they_help},
        {"rates of runs are better than the model", rates_are_better_than_the_model},
        {"rates are learnt", rates_are_learnt},
        {"partitions go where they were", partitions_go_where_they_were},
        {"a kept job has a part for each rank", a_kept_job_has_a_part_for_each_rank},
        {"rates of ranks have one unit", rates_have_one_unit},
    };
}
