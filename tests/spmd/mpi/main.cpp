// SPDX-License-Identifier: MIT
/* Jobs by eight processes of MPI over the loopback device: without arguments it starts itself as them. */
#include "tests/comes_true.hpp"
#include "tests/spmd/cache.hpp"
#include "tests/spmd/run/cases.hpp"
#include <ptsched/spmd/mpi.hpp>

#include <cmath>
#include <csignal>
#include <fstream>
#include <sys/wait.h>

using namespace test;

namespace {

/* Of each. More than enough for a machine that has much else to do, and an end for what would hang. */
constexpr const char *most_seconds = "120";

struct Ended {
    int status;
    std::string output;
};

std::string self()
{
    return std::filesystem::read_symlink("/proc/self/exe");
}

/* @start: of the program, as a shell has it. */
Ended run(const std::string &start)
{
    const std::string command = std::string("timeout -k 5 ") + most_seconds + " " + start + " 2>&1 </dev/null";
    Ended ended{-1, {}};
    FILE *const pipe = popen(command.c_str(), "r");
    if (!pipe)
        return ended;
    char part[4096];
    while (const std::size_t got = std::fread(part, 1, sizeof part, pipe))
        ended.output.append(part, got);
    const int status = pclose(pipe);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
}

Ended of_ranks_of_mpi(unsigned ranks, const std::string &program)
{
    return run("mpirun --allow-run-as-root --oversubscribe --bind-to none --mca btl self,tcp --mca btl_tcp_if_include "
               "lo --mca plm_rsh_agent sh -n " +
               std::to_string(ranks) + " " + program);
}

Ended of_eight(const std::string &what)
{
    return of_ranks_of_mpi(8, self() + " " + what);
}

std::size_t times(const std::string &text, const std::string &part)
{
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size())
        count++;
    return count;
}

spmd::Job<unsigned, double> sums(const std::vector<double> &numbers)
{
    spmd::Job<unsigned, double> job;
    job.name = "sums";
    job.input = spmd::Input::memory(std::span<const double>(numbers));
    job.ordered = true;
    job.block_bytes = 1000;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        const auto scale = block.parameters_as<double>();
        std::uint64_t at = block.first;
        for (const double number : block.as<double>())
            out(static_cast<unsigned>(at++ % 5), number * (scale.empty() ? 1 : scale[0]));
    };
    job.cpu.combine = [](double &into, double value) { into += value; };
    return job;
}

std::vector<double> many_numbers()
{
    std::vector<double> numbers(40000);
    for (std::size_t i = 0; i < numbers.size(); i++)
        numbers[i] = std::sin(static_cast<double>(i)) * std::pow(10, i % 13);
    return numbers;
}

/* In each of the eight. */
int same_bits(spmd::Cluster &cluster)
{
    spmd::Options one;
    one.threads = 1;
    spmd::Cluster alone(one);
    const std::vector<double> numbers = many_numbers();
    auto loop = cluster.keep(sums(numbers)), alone_loop = alone.keep(sums(numbers));
    std::vector<double> scale{1};
    bool is_same = true;
    for (int i = 0; i < 4; i++) {
        const auto here = loop.run(scale), there = alone_loop.run(scale);
        is_same = is_same && here.pairs().size() == 5 && there.pairs().size() == 5;
        for (std::size_t key = 0; is_same && key < 5; key++)
            is_same = std::memcmp(&here.pairs()[key].value, &there.pairs()[key].value, sizeof(double)) == 0;
        scale[0] = here.pairs()[0].value / 3e15;
    }
    const std::string text = made_text(20000);
    is_same = is_same && as_map(cluster.run(word_count(text)).pairs()) == counted(text);
    std::printf("rank %u: %s\n", cluster.rank(), is_same ? "same" : "other");
    return is_same ? 0 : 1;
}

int bad_reducer(spmd::Cluster &cluster)
{
    const std::string text = made_text(2000);
    auto job = word_count(text);
    job.cpu.reduce = [](std::string_view word, spmd::Values<std::uint64_t> values) {
        if (word == "word7")
            throw std::runtime_error("seven is too many");
        return values[0];
    };
    cluster.run(job);
    return 0;
}

/* Names a file that a process makes when it is about to be signalled. */
constexpr const char *begun = "PTSCHED_TEST_BEGUN";

/* One process does that while it maps. The others wait for it with a block each, or it might get none. */
int signalled(spmd::Cluster &cluster, int signal)
{
    const std::string text = made_text(20000), file = std::getenv(begun);
    auto job = word_count(text);
    if (cluster.rank() == 3)
        job.cpu.map = [&](const spmd::Block &, auto &) {
            std::ofstream{file};
            raise(signal);
        };
    else
        job.cpu.map = [&, map = job.cpu.map](const spmd::Block &block, auto &out) {
            if (!comes_true([&] { return std::filesystem::exists(file); }))
                throw std::runtime_error("rank 3 has got nothing to map");
            map(block, out);
        };
    cluster.run(job);
    return 0;
}

int other_jobs(spmd::Cluster &cluster)
{
    const std::string text = made_text(100 + cluster.rank() / 7);
    cluster.run(word_count(text));
    return 0;
}

/* What all ranks say is one number. */
int network()
{
    const double rate = spmd::mpi::network_rate();
    std::printf("rate %a\n", rate);
    return rate > 0 && std::isfinite(rate) ? 0 : 1;
}

int child(const std::string &what)
{
    if (what == "network")
        return network();
    spmd::Options options;
    options.threads = 1;
    /* Others may have to wait for a processor, too. */
    if (what == "stopped")
        options.patience = std::chrono::seconds(10);
    return spmd::mpi::main(
        [&](spmd::Cluster &cluster) {
            if (what == "same")
                return same_bits(cluster);
            if (what == "reducer")
                return bad_reducer(cluster);
            if (what == "others")
                return other_jobs(cluster);
            if (what == "private" && cluster.rank() == 3)
                throw std::runtime_error("no such thing");
            if (what == "private")
                return same_bits(cluster);
            return signalled(cluster, what == "killed" ? SIGKILL : SIGSTOP);
        },
        options);
}

void eight_ranks_give_the_same_bits()
{
    const Ended ended = of_eight("same");
    CHECK_EQ(ended.status, 0);
    CHECK_EQ(times(ended.output, ": same\n"), std::size_t{8});
    if (ended.status != 0)
        std::printf("# %s\n", ended.output.c_str());
}

void an_error_is_said_once()
{
    const Ended ended = of_eight("reducer");
    CHECK_EQ(ended.status, 1);
    CHECK_EQ(times(ended.output, "reducing key \"word7\": seven is too many"), std::size_t{1});
}

Ended of_eight_and_a_signal(const std::string &what)
{
    const Cache cache;
    setenv(begun, (cache.folder() / "begun").c_str(), 1);
    return of_eight(what);
}

void a_killed_rank_ends_the_job()
{
    const Ended ended = of_eight_and_a_signal("killed");
    CHECK(ended.status != 0 && ended.status != 124);
    CHECK(has(ended.output, "signal 9"));
}

void a_silent_rank_ends_the_job()
{
    const Ended ended = of_eight_and_a_signal("stopped");
    CHECK(ended.status != 0 && ended.status != 124);
    CHECK_EQ(times(ended.output, "rank 3 has failed: nothing has been heard of it for 10000 ms"), std::size_t{1});
}

void all_ranks_run_the_same_job()
{
    const Ended ended = of_eight("others");
    CHECK_EQ(ended.status, 1);
    CHECK_EQ(times(ended.output, "all ranks are to run the same jobs"), std::size_t{1});
}

/* The others would wait for it. */
void what_a_rank_alone_throws()
{
    const Ended ended = of_eight("private");
    CHECK(ended.status != 0 && ended.status != 124);
    CHECK_EQ(times(ended.output, "rank 3: no such thing"), std::size_t{1});
}

void a_network_is_measured()
{
    for (const unsigned ranks : {2U, 3U}) {
        const Ended ended = of_ranks_of_mpi(ranks, self() + " network");
        CHECK_EQ(ended.status, 0);
        CHECK_EQ(times(ended.output, "all ranks are on one host"), std::size_t{1});
        const std::size_t at = ended.output.find("rate ");
        CHECK(at != ended.output.npos);
        if (at != ended.output.npos)
            CHECK_EQ(times(ended.output, ended.output.substr(at, ended.output.find('\n', at) + 1 - at)),
                     std::size_t{ranks});
    }
}

/* The rest of the machine is known. */
void the_tool_keeps_the_network()
{
    const Cache cache;
    spmd::model::Machine machine = made_up_machine(0);
    machine.network = 0;
    Cache::keep(machine, false);
    const std::filesystem::path top = std::filesystem::path(self()).parent_path().parent_path();
    const std::string tool = (top / "bin/ptsched-roofline").string() + " --no-gpus --network";
    const auto with = [](const std::string &folder) { return "env LD_LIBRARY_PATH=" + folder + " "; };
    const Ended two = of_ranks_of_mpi(2, with(top / "lib") + tool);
    CHECK_EQ(two.status, 0);
    CHECK_EQ(times(two.output, "Network: "), std::size_t{1});
    CHECK_EQ(times(two.output, "Network: not known"), std::size_t{0});
    CHECK(spmd::model::machine({.gpus = false}).network > 0);
    CHECK(spmd::model::machine({.gpus = false}).cpu.name == machine.cpu.name);

    const std::string alone = "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ";
    const Ended one = run(alone + with(top / "lib") + tool);
    CHECK_EQ(one.status, 1);
    CHECK(has(one.output, "one rank alone cannot measure the network"));
    /* A file of its name that is no library. */
    Cache::write(cache.folder() / "libptsched-spmd-mpi.so.0", "");
    const Ended without = run(with(cache.folder()) + tool);
    CHECK_EQ(without.status, 1);
    CHECK(has(without.output, "libptsched-spmd-mpi.so.0, which cannot be loaded"));
}

} // namespace

int main(int arguments, char **argument)
{
    if (arguments > 1)
        return child(argument[1]);
    return tap::run({
        {"eight ranks give the same bits", eight_ranks_give_the_same_bits},
        {"an error is said once", an_error_is_said_once},
        {"a killed rank ends the job", a_killed_rank_ends_the_job},
        {"a silent rank ends the job", a_silent_rank_ends_the_job},
        {"all ranks run the same job", all_ranks_run_the_same_job},
        {"what a rank alone throws", what_a_rank_alone_throws},
        {"a network is measured", a_network_is_measured},
        {"the tool keeps the network", the_tool_keeps_the_network},
    });
}
