// SPDX-License-Identifier: MIT
/* Kept jobs on cores and a GPU: who maps what in the second run, and which bytes come to the GPU then. */
#include "tests/spmd/gpu/cases.hpp"
#include <ptsched/spmd.hpp>
#include <ptsched/spmd/gpu_block.hpp>

#include <cmath>

namespace test {

namespace {

/* Its value says who has mapped it, and whether the host had changed it before. */
struct Record {
    unsigned number, changed, by_cores, unused;
};

spmd::Job<std::uint64_t, Record> job_of(const std::vector<Record> &records)
{
    spmd::Job<std::uint64_t, Record> job;
    job.input = spmd::Input::memory(std::span<const Record>(records));
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        std::uint64_t number = block.first;
        for (Record record : block.as<Record>()) {
            record.by_cores = 1;
            out(number++, record);
        }
    };
    job.gpu.host.map = [](spmd::GpuBlock &block) { block.emit_numbered(block.data(), sizeof(Record)); };
    job.intensity = spmd::model::Intensity{.cpu = 1, .gpu = 1, .precision = spmd::model::Precision::fp64};
    return job;
}

/* The CPU and a GPU that has its input are as fast; from the host, it has half of that. */
spmd::Options options()
{
    spmd::Options options;
    options.threads = 2;
    options.gpus = {0};
    options.attach = false;
    options.machine.emplace();
    options.machine->cpu.peak.fp64 = 1e12;
    options.machine->cpu.dram = 1e10;
    options.machine->gpus.resize(1);
    options.machine->gpus[0].peak.fp64 = 1e12;
    options.machine->gpus[0].dram = 1e10;
    options.machine->gpus[0].to_gpu = 1e10;
    return options;
}

constexpr std::size_t count = 20000;

std::vector<Record> made_records()
{
    std::vector<Record> records(count);
    for (unsigned i = 0; i < count; i++)
        records[i] = {i, 0, 0, 0};
    return records;
}

bool is_near(double a, double b)
{
    return std::abs(a - b) < 0.01;
}

/* What the GPU had in the first run it still has in the second one, though the host's has changed meanwhile. */
void run_twice(const spmd::Split &split)
{
    std::vector<Record> records = made_records();
    auto job = job_of(records);
    job.split = split;
    spmd::Cluster cluster(options());
    auto loop = cluster.keep(job);
    const auto first = loop.run();
    for (Record &record : records)
        record.changed = 1;
    const auto second = loop.run();
    CHECK_EQ(first.pairs().size(), count);
    CHECK_EQ(second.pairs().size(), count);
    const bool is_static = std::holds_alternative<spmd::Static>(split);
    bool right = true, same = true;
    std::size_t on_gpu = 0;
    for (std::size_t i = 0; i < count; i++) {
        const Record before = first.pairs()[i].value, after = second.pairs()[i].value;
        const bool was_there = before.by_cores == 0, stayed = was_there && after.by_cores == 0;
        right = right && after.number == i && after.changed == (stayed ? 0U : 1U);
        same = same && before.by_cores == after.by_cores;
        on_gpu += was_there;
    }
    CHECK(right);
    if (!is_static)
        return;
    CHECK(same && on_gpu > 0);
    for (const auto *result : {&first, &second}) {
        CHECK(is_near(result->report.model_p.value_or(-1), 0.5));
        CHECK(is_near(result->report.p, 0.5));
    }
}

void a_static_split_stays()
{
    run_twice(spmd::Static{});
}

void a_dynamic_split_stays()
{
    run_twice(spmd::Dynamic{});
}

/* What came to the GPU in blocks is one from the second run on; and who has which part may change with each run. */
void what_stays_is_one_block()
{
    const std::vector<Record> records = made_records();
    auto job = job_of(records);
    job.split = spmd::Static{};
    spmd::Cluster cluster(options());
    auto loop = cluster.keep(job);
    for (unsigned run = 0; run < 8; run++) {
        const auto result = loop.run();
        bool right = result.pairs().size() == count;
        for (std::size_t i = 0; right && i < count; i++)
            right = result.pairs()[i].key == i && result.pairs()[i].value.number == i;
        CHECK(right);
        CHECK_EQ(result.report.ranks.at(0).devices.size(), 2U);
        CHECK(run == 0 || result.report.ranks[0].devices[1].blocks <= 1);
        CHECK(run != 1 || result.report.ranks[0].devices[1].blocks == 1);
    }
}

/* It comes to the GPU again, and who had which part may have another one. */
void input_is_renewed()
{
    for (const spmd::Split &split : {spmd::Split(spmd::Static{}), spmd::Split(spmd::Dynamic{})}) {
        std::vector<Record> records = made_records();
        auto job = job_of(records);
        job.split = split;
        spmd::Cluster cluster(options());
        auto loop = cluster.keep(job);
        for (unsigned change = 0; change < 3; change++) {
            for (Record &record : records)
                record.changed = change;
            loop.renew();
            for (unsigned run = 0; run < 2; run++) {
                const auto result = loop.run();
                CHECK_EQ(result.pairs().size(), count);
                bool right = true;
                for (const auto &[number, record] : result.pairs())
                    right = right && record.number == number && record.changed == change;
                CHECK(right);
            }
        }
    }
}

/* By what it costs to wake them; a part that is said they have all the same. */
void cores_that_cost_too_much_have_no_part()
{
    const std::vector<Record> records = made_records();
    auto job = job_of(records);
    for (const double latency : {0.0, 1.0})
        for (const bool is_said : {false, true}) {
            spmd::Options with = options();
            with.machine->cpu.latency = latency;
            job.split = is_said ? spmd::Static{0.5} : spmd::Static{};
            spmd::Cluster cluster(std::move(with));
            auto loop = cluster.keep(job);
            const double part = latency > 0 && !is_said ? 0 : 0.5;
            CHECK(is_near(loop.run().report.p, part));
            CHECK_EQ(loop.run().pairs().size(), count);
            CHECK(is_near(cluster.run(job).report.p, part));
        }
}

/* Of which the GPU's input comes from the host. */
void a_single_run()
{
    const std::vector<Record> records = made_records();
    auto job = job_of(records);
    job.split = spmd::Static{};
    spmd::Cluster cluster(options());
    const auto result = cluster.run(job);
    CHECK(is_near(result.report.model_p.value_or(-1), 0.5));
    CHECK(is_near(result.report.p, 0.5));
}

} // namespace

std::vector<tap::Case> kept_job_cases()
{
    return {{"a static split stays on the GPU", a_static_split_stays},
            {"a dynamic split stays on the GPU", a_dynamic_split_stays},
            {"what stays is one block", what_stays_is_one_block},
            {"input is renewed", input_is_renewed},
            {"cores that cost too much have no part", cores_that_cost_too_much_have_no_part},
            {"a single run has its input from the host", a_single_run}};
}

} // namespace test
