// SPDX-License-Identifier: MIT
/* What ranks know of the machine that they are on. */
#include "libptsched/spmd/run/machine.hpp"

#include "tests/spmd/cache.hpp"
#include "tests/spmd/run/cases.hpp"

#include <cmath>

using namespace test;
namespace model = ptsched::spmd::model;

namespace {

bool near(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::abs(b);
}

class Gpu final : public spmd::Engine {
public:
    explicit Gpu(unsigned number) : number_(number) {}
    std::string name() const override { return "gpu"; }
    bool is_gpu() const override { return true; }
    unsigned number() const override { return number_; }
    unsigned at_once() const override { return 1; }
    void start(const spmd::Piece &, spmd::Done) override {}
    unsigned kept() const override { return 0; }
    void collect(unsigned, spmd::Done) override {}
    void forget_pairs() override {}

private:
    const unsigned number_;
};

std::vector<std::unique_ptr<spmd::Engine>> gpus_of(const std::vector<unsigned> &numbers)
{
    std::vector<std::unique_ptr<spmd::Engine>> engines;
    for (const unsigned number : numbers)
        engines.push_back(std::make_unique<Gpu>(number));
    return engines;
}

void it_is_asked_once()
{
    const Cache cache;
    Cache::keep(made_up_machine(), false);
    spmd::KnownMachine known;
    const model::Machine *const first = known.get(false, false);
    CHECK(first && first->cpu.name == made_up_machine().cpu.name);
    std::filesystem::remove_all(cache.folder() / "ptsched");
    CHECK(known.get(false, false) == first);
    CHECK(!std::filesystem::exists(cache.folder() / "ptsched"));
}

/* Of four cores a rank of two has a half; of eight ranks, each has an eighth. */
void a_rank_has_its_part()
{
    model::Machine all = made_up_machine(3);
    all.gpus[2].name = "the third";
    const auto half = spmd::part_of(all, gpus_of({2, 0}), 2, 1, true);
    CHECK(half.has_value());
    CHECK(near(half->cpu.peak.fp64, 50e9) && near(half->cpu.peak.fp32, 100e9) && near(half->cpu.dram, 25e9));
    CHECK_EQ(half->cpu.cores, 2U);
    CHECK_EQ(half->gpus.size(), 2U);
    CHECK(half->gpus.at(0).name == "the third" && near(half->gpus[0].to_gpu, 25e9));
    const auto eighth = spmd::part_of(all, {}, 1, 8, true);
    CHECK(eighth.has_value() && near(eighth->cpu.dram, 50e9 / 8) && eighth->gpus.empty());
    /* More threads than there are cores are no faster. */
    CHECK(near(spmd::part_of(all, {}, 100, 1, true)->cpu.dram, 50e9));
    CHECK(!spmd::part_of(all, gpus_of({3}), 2, 1, true).has_value());
}

/* Three GPUs of eight ranks: the first two are three ranks' each, the last one two's. */
void ranks_share_gpus()
{
    const model::Machine all = made_up_machine(3);
    CHECK(near(spmd::part_of(all, gpus_of({1}), 1, 8, true)->gpus.at(0).to_gpu, 25e9 / 3));
    CHECK(near(spmd::part_of(all, gpus_of({2}), 1, 8, true)->gpus.at(0).peak.fp64, 1000e9));
    CHECK(near(spmd::part_of(all, gpus_of({2}), 1, 8, false)->gpus.at(0).to_gpu, 25e9));
}

std::size_t files_in(const Cache &cache)
{
    return std::filesystem::is_empty(cache.folder()) ? 0 : 1;
}

void only_an_intensity_needs_it()
{
    const Cache cache;
    const std::string text = made_text(2000);
    auto job = word_count(text);
    spmd::Cluster cluster(of_ranks(2));
    CHECK(as_map(cluster.run(job).pairs()) == counted(text));
    CHECK_EQ(files_in(cache), 0U);
    Cache::keep(made_up_machine(), false);
    job.intensity = model::Intensity{.cpu = 1, .gpu = {}};
    const auto result = cluster.run(job);
    CHECK(as_map(result.pairs()) == counted(text));
    CHECK(result.report.model_p.has_value() && near(*result.report.model_p, 1));
}

/* What was measured has no peak: the model has no answer, and the job no model. */
void a_job_runs_without_it()
{
    const Cache cache;
    model::Machine useless = made_up_machine();
    useless.cpu.peak = {};
    Cache::keep(useless, false);
    const std::string text = made_text(2000);
    auto job = word_count(text);
    job.intensity = model::Intensity{.cpu = 1, .gpu = {}};
    spmd::Cluster cluster(of_ranks(1));
    const auto result = cluster.run(job);
    CHECK(as_map(result.pairs()) == counted(text));
    CHECK(!result.report.model_p.has_value());
    spmd::Options given = of_ranks(1);
    given.machine = useless;
    spmd::Cluster strict(given);
    CHECK(has(thrown_by([&] { strict.run(job); }), "peak rate"));
}

} // namespace

std::vector<tap::Case> test::machine_cases()
{
    return {
        {"a machine is asked for once", it_is_asked_once},
        {"a rank has its part of a machine", a_rank_has_its_part},
        {"ranks share GPUs", ranks_share_gpus},
        {"only an intensity needs a machine", only_an_intensity_needs_it},
        {"a job runs without a machine", a_job_runs_without_it},
    };
}
