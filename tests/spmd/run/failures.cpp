// SPDX-License-Identifier: MIT
/* What goes wrong: it is said clearly, nothing hangs, and nothing half done is left. */
#include "libptsched/spmd/link/in_process.hpp"
#include "tests/comes_true.hpp"
#include "tests/spmd/run/cases.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace test;

namespace {

template <typename Job> std::string error_of(const Job &job, const spmd::Options &options)
{
    spmd::Cluster cluster(options);
    return thrown_by([&] { cluster.run(job); });
}

void a_map_that_throws()
{
    const std::string text = made_text(20000);
    for (const unsigned ranks : {1, 3}) {
        auto job = word_count(text);
        job.cpu.map = [](const spmd::Block &block, auto &) {
            if (block.offset > 50000)
                throw std::runtime_error("no such word");
        };
        const std::string error = error_of(job, of_ranks(ranks));
        CHECK(has(error, "job \"words\""));
        CHECK(has(error, "no such word"));
    }
}

/* The cluster is as good as new after it. */
void a_reducer_that_throws()
{
    const std::string text = made_text(5000);
    for (const unsigned ranks : {1, 3}) {
        const Folder folder;
        write_file(folder.path("counts"), "old");
        spmd::Cluster cluster(of_ranks(ranks));
        auto job = word_count(text);
        job.output.path = folder.path("counts");
        job.cpu.reduce = [](std::string_view word, spmd::Values<std::uint64_t> values) {
            if (word == "word3")
                throw std::runtime_error("three is too many");
            return values[0];
        };
        CHECK(has(thrown_by([&] { cluster.run(job); }), "reducing key \"word3\": three is too many"));
        CHECK_EQ(read_file(folder.path("counts")) == "old", true);
        CHECK_EQ(folder.names().size(), std::size_t{1});
        CHECK(as_map(cluster.run(word_count(text)).pairs()) == counted(text));
    }
}

void a_disk_that_is_full()
{
    const std::string text = made_text(20000);
    const Folder folder;
    write_file(folder.path("counts"), "old");
    auto job = word_count(text);
    job.output.path = folder.path("counts");
    job.format = [](std::string_view, std::uint64_t, std::string &to) { to += std::string(1000, 'x'); };
    std::string error;
    {
        const SmallDisk disk(4096);
        error = error_of(job, of_ranks(2));
    }
    CHECK(has(error, "cannot write " + folder.path("counts")));
    CHECK_EQ(read_file(folder.path("counts")) == "old", true);
    CHECK_EQ(folder.names().size(), std::size_t{1});
    spmd::Options options = of_ranks(2);
    options.memory = 1;
    options.folder = folder.path();
    {
        const SmallDisk disk(512);
        error = error_of(word_count(text), options);
    }
    CHECK(has(error, "a file for pairs in " + folder.path()));
    options.folder = folder.path("nowhere");
    CHECK(has(error_of(word_count(text), options), "cannot make a file for pairs in " + options.folder));
}

void a_record_that_is_too_long()
{
    std::string text(53003, 'a');
    text[3000] = text[53001] = ' ';
    auto job = word_count(text);
    job.block_bytes = 100;
    auto records = spmd::Records::words();
    records.longest = 10000;
    job.input = spmd::Input::text(text, records);
    CHECK(has(error_of(job, of_ranks(2)), "has no end within 10000 bytes"));
    records.longest = 100000;
    job.input = spmd::Input::text(text, records);
    CHECK_EQ(spmd::Cluster(of_ranks(2)).run(job).pairs().size(), std::size_t{3});
}

void what_is_no_input()
{
    const Folder folder;
    write_file(folder.path("odd"), "12345");
    const auto input_error = [](const std::string &path) {
        return thrown_by([&] { spmd::Input::file(path, spmd::Records::fixed(4)); });
    };
    CHECK(has(input_error(folder.path("none")), "cannot open"));
    CHECK(has(input_error(folder.path("odd")), "has 5 bytes, which are no whole records of 4"));
    CHECK(has(input_error(folder.path()), "is not a regular file"));
    spmd::Job<int, int> job;
    CHECK(has(error_of(job, of_ranks(1)), "has no map"));
    job.cpu.map = [](const spmd::Block &, auto &) {};
    CHECK(has(error_of(job, of_ranks(1)), "has no input"));
    job.cpu.map = nullptr;
    job.gpu.kernels.name = "nothing";
    job.input = spmd::Input::text("a");
    spmd::Options options = of_ranks(2);
    options.use_gpus = false;
    CHECK(has(error_of(job, options), "there is no device here"));
    job = {};
    job.cpu.map = [](const spmd::Block &, auto &) {};
    job.input = spmd::Input::text("a");
    job.split = spmd::Static{1.5};
    CHECK(has(error_of(job, of_ranks(2)), "not between 0 and 1"));
}

/* Of ranks that are machines of their own: what each throws that does @work, which has its number and its cluster. */
template <typename Work>
std::vector<std::string> errors_of_ranks(const std::shared_ptr<spmd::Hub> &hub, const spmd::Options &options, Work work)
{
    std::vector<std::string> errors(hub->ranks());
    std::vector<std::thread> threads;
    for (unsigned rank = 0; rank < hub->ranks(); rank++)
        threads.emplace_back([&, rank] {
            spmd::Cluster cluster(std::make_shared<spmd::Core>(options, hub->link(rank)));
            errors[rank] = thrown_by([&] { work(rank, cluster); });
        });
    for (std::thread &thread : threads)
        thread.join();
    return errors;
}

spmd::Options of_one_thread()
{
    spmd::Options options;
    options.threads = 1;
    return options;
}

/* One fails while it maps; the others do what it had done, too. */
void a_rank_that_is_gone()
{
    constexpr unsigned ranks = 4, victim = 2;
    const std::string text = made_text(20000);
    const auto hub = std::make_shared<spmd::Hub>(ranks);
    std::atomic<bool> is_killed{false};
    std::array<Counts, ranks> counts;
    std::vector<unsigned> failed;
    const auto errors = errors_of_ranks(hub, of_one_thread(), [&](unsigned rank, spmd::Cluster &cluster) {
        auto job = word_count(text);
        job.partitions = 40;
        const auto count_them = job.cpu.map;
        std::atomic<unsigned> blocks{0};
        job.cpu.map = [&](const spmd::Block &block, auto &out) {
            if (rank == victim && blocks++ == 2) {
                hub->kill(victim);
                is_killed = true;
            } else if (rank != victim) {
                CHECK(comes_true([&] { return is_killed.load(); }));
            }
            count_them(block, out);
        };
        const auto result = cluster.run(job);
        counts[rank] = as_map(result.pairs());
        if (rank == 0)
            failed = result.report.failed;
    });
    CHECK(has(errors[victim], "has been killed"));
    CHECK(failed == std::vector<unsigned>{victim});
    for (unsigned rank = 0; rank < ranks; rank++)
        CHECK(rank == victim || (errors[rank].empty() && counts[rank] == counted(text)));
}

/* What had come of it with what was done is not counted twice. */
void a_rank_of_a_kept_job_is_gone()
{
    constexpr unsigned ranks = 3, victim = 1;
    const std::vector<std::uint32_t> numbers(10000, 1);
    const auto hub = std::make_shared<spmd::Hub>(ranks);
    std::atomic<bool> is_killed{false};
    std::array<std::vector<std::uint64_t>, ranks> sums;
    std::vector<unsigned> failed;
    const auto errors = errors_of_ranks(hub, of_one_thread(), [&](unsigned rank, spmd::Cluster &cluster) {
        unsigned run = 0;
        std::atomic<unsigned> blocks{0};
        spmd::Job<std::uint32_t, std::uint64_t> job;
        job.input = spmd::Input::memory(std::span<const std::uint32_t>(numbers));
        job.block_bytes = 400;
        job.partitions = 30;
        job.cpu.map = [&](const spmd::Block &block, auto &out) {
            const bool is_second = run == 1;
            if (is_second && rank == victim && blocks++ == 20) {
                hub->kill(victim);
                is_killed = true;
            } else if (is_second && rank != victim) {
                CHECK(comes_true([&] { return is_killed.load(); }));
            }
            out(0, block.records);
        };
        job.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
        auto loop = cluster.keep(job);
        for (; run < 2; run++) {
            const auto result = loop.run();
            for (const auto [key, value] : result.pairs())
                sums[rank].push_back(value);
            if (rank == 0)
                failed = result.report.failed;
        }
    });
    CHECK(has(errors[victim], "has been killed"));
    CHECK(failed == std::vector<unsigned>{victim});
    for (const unsigned rank : {0U, 2U}) {
        CHECK(errors[rank].empty());
        CHECK(sums[rank] == std::vector<std::uint64_t>(2, numbers.size()));
    }
}

void the_first_rank_is_gone()
{
    const auto hub = std::make_shared<spmd::Hub>(2);
    const std::string text = made_text(20000);
    const auto errors = errors_of_ranks(hub, spmd::Options{}, [&](unsigned rank, spmd::Cluster &cluster) {
        auto job = word_count(text);
        if (rank == 0)
            job.cpu.map = [&](const spmd::Block &, auto &) { hub->kill(0); };
        cluster.run(job);
    });
    CHECK(has(errors[0], "has been killed"));
    CHECK(has(errors[1], "rank 0 has failed"));
}

} // namespace

std::vector<tap::Case> test::failure_cases()
{
    return {
        {"a map that throws", a_map_that_throws},
        {"a reducer that throws", a_reducer_that_throws},
        {"a disk that is full", a_disk_that_is_full},
        {"a record that is too long", a_record_that_is_too_long},
        {"what is no input", what_is_no_input},
        {"a rank that is gone", a_rank_that_is_gone},
        {"a rank of a kept job is gone", a_rank_of_a_kept_job_is_gone},
        {"the first rank is gone", the_first_rank_is_gone},
    };
}
