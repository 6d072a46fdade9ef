// SPDX-License-Identifier: MIT
/* The programs of samples/spmd, by hand and by the library, on the virtual GPU: their results. */
#include "tests/comes_true.hpp"
#include "tests/spmd/cache.hpp"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace {

std::string why_not()
{
    return SPMD_PROGRAMS_ARE_BUILT ? "" : "they are not built without MPI";
}

/* @with: before it, variables of its environment or mpirun; without that, it is one rank. */
int run(const std::string &with, const std::string &program, const std::string &options)
{
    const std::string command = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 env " + with +
                                " " + test::folder() + "/../samples/spmd-" + program + " " + options;
    return std::system((command + " >&2").c_str());
}

/* Without cuBLAS, which may be there, but not for this GPU. */
void check(const std::string &program)
{
    CHECK_EQ(run("LD_LIBRARY_PATH=" + test::folder(), program,
                 "--check --hand '' --module " + test::folder() + "/spmd-" + program + ".so"),
             0);
}

/* A file whose name no other test has, which goes with it. */
class TemporaryFile {
public:
    TemporaryFile()
    {
        const int fd = mkstemp(name_.data());
        if (fd < 0)
            throw std::runtime_error("cannot make a file in /tmp");
        close(fd);
        std::filesystem::remove(name_); /* whoever writes it makes it */
    }
    ~TemporaryFile() { std::filesystem::remove(name_); }
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;
    const std::string &name() const { return name_; }

private:
    std::string name_ = "/tmp/spmd-programs-XXXXXX";
};

/* Has it something of that name? @json: what a program has written. */
bool has_record(const TemporaryFile &json, const std::string &name)
{
    std::stringstream text;
    text << std::ifstream(json.name()).rdbuf();
    return text.str().find("\"prs/" + name + "\"") != std::string::npos;
}

/* No driver is found here, unless the machine has one, which is not used then. */
void measure_without_gpu(const std::string &program, const std::string &size)
{
    const TemporaryFile json;
    CHECK_EQ(run("", program, "--cpu --quick " + size + " --json " + json.name()), 0);
    CHECK(has_record(json, "over-hand-cpu/" + program));
    CHECK(!has_record(json, "over-hand/" + program));
}

constexpr const char *two_ranks = "mpirun --oversubscribe --bind-to none --mca plm_rsh_agent sh -n 2";

/* Two ranks, which sleep while they wait. */
void measure_scaling(const std::string &program, const std::string &size)
{
    const TemporaryFile json;
    CHECK_EQ(run(two_ranks, program, "--weak --cpu --quick " + size + " --json " + json.name()), 0);
    CHECK(has_record(json, "weak-cpu/2/" + program));
    CHECK(has_record(json, "weak-cpu/2/" + program + "/hand"));
    CHECK(!has_record(json, "weak/2/" + program));
    CHECK(run("", program, "--weak --cpu --quick " + size) != 0); /* one rank */
}

/* The same, of which each has a GPU. */
void measure_scaling_on_gpus(const std::string &program, const std::string &size)
{
    const TemporaryFile json;
    CHECK_EQ(run("LD_LIBRARY_PATH=" + test::folder() + " " + two_ranks, program,
                 "--weak --quick " + size + " --json " + json.name() + " --module " + test::folder() + "/spmd-" +
                     program + ".so"),
             0);
    CHECK(has_record(json, "weak/2/" + program));
    CHECK(has_record(json, "weak/2/" + program + "/hand"));
    CHECK(!has_record(json, "weak-cpu/2/" + program));
}

/* The worst of what is in a file, and not of what has been summed up before. */
void sum_up()
{
    const TemporaryFile json;
    std::ofstream(json.name()) << R"([{"name": "prs/p-error/gemv", "value": 1}, {"name": "prs/p-error/gmm", "value": 4},
        {"name": "prs/p-error/worst", "value": 9}, {"name": "prs/over-hand/gemv", "value": 0.5},
        {"name": "prs/over-hand/gmm", "value": 0.25}, {"name": "prs/split-efficiency/gmm/static", "value": 0.75},
        {"name": "prs/split-efficiency/gmm/dynamic", "value": 0.125}, {"name": "prs/weak-cpu/2/gmm", "value": 0.625},
        {"name": "prs/weak-cpu/2/gmm/hand", "value": 0.0625}])";
    CHECK_EQ(run("", "summary", "--cpu --json " + json.name()), 0);
    std::map<std::string, double> found;
    std::ifstream file(json.name());
    for (const auto &record : nlohmann::json::parse(file))
        found[record.at("name")] = record.at("value");
    CHECK(found["prs/p-error/worst"] == 4);
    CHECK(found["prs/over-hand/worst"] == 0.25);
    CHECK(found["prs/split-efficiency/worst"] == 0.125);
    CHECK(found["prs/split-efficiency/worst/static"] == 0.75);
    CHECK(found["prs/weak-cpu/2"] == 0.625);
    CHECK(!found.contains("prs/weak/2"));
}

/* Of a text of a few words, by another program and by ours. */
class Against {
public:
    Against()
    {
        std::ofstream(text_.name()) << "\n one two\tthree two\r\nthree  three\n";
        std::filesystem::create_directory(folder_.name());
    }
    /* A process of MPI's removes its own files there when the program has ended, at the same time maybe. */
    ~Against()
    {
        CHECK(test::comes_true([&] {
            std::error_code ignored;
            std::filesystem::remove_all(folder_.name(), ignored);
            return !std::filesystem::exists(folder_.name());
        }));
    }
    Against(const Against &) = delete;
    Against &operator=(const Against &) = delete;
    int run(const std::string &command, const std::string &options = "") const
    {
        const int status = ::run("TMPDIR=" + folder_.name(), "wordcount",
                                 "--cpu --check --text " + text_.name() + " " + options + " --against '" + command +
                                     "' 2>" + said_.name());
        std::ifstream said(said_.name());
        for (std::string line; std::getline(said, line);)
            std::printf("# %s\n", line.c_str());
        for (const auto &left : std::filesystem::directory_iterator(folder_.name())) /* MPI may have left something */
            CHECK(!left.path().filename().string().starts_with("spmd-wordcount"));
        return status;
    }
    bool says(const std::string &part) const
    {
        std::stringstream text;
        text << std::ifstream(said_.name()).rdbuf();
        return text.str().find(part) != std::string::npos;
    }

private:
    const TemporaryFile text_, said_, folder_;
};

void count_against()
{
    const Against against;
    const std::string by_sort =
        R"(tr -s " \t\r\n" "\n" <"$TEXT" | grep . | LC_ALL=C sort | uniq -c | sed -E "s/ *([0-9]+) (.*)/\2 \1/")";
    CHECK_EQ(against.run(by_sort), 0);
    CHECK_EQ(against.run(R"(printf "two 2\nthree\t 3\none 1\n")"), 0);
    CHECK(against.run(R"(printf "two 2\nthree 3\n")") != 0);
    CHECK(against.says("counts otherwise"));
    CHECK(against.run("echo two") != 0);
    CHECK(against.says("line 1 of what"));
    CHECK(against.run("echo two 2x") != 0);
    CHECK(against.says("line 1 of what"));
    CHECK(against.run("exit 7") != 0);
    CHECK(against.says("ended with status 7"));
    CHECK(against.run("no-such-program-anywhere") != 0);
    CHECK(against.says("ended with status 127"));
    CHECK(against.run("kill -9 $$") != 0);
    CHECK(against.says("ended by signal 9"));
    CHECK(against.run("sleep 90 | sleep 90", "--against-seconds 1") != 0);
    CHECK(against.says("has not ended within 1 seconds"));
}

/* Who ends the program while it waits gets all of its files removed. */
void interrupt_against()
{
    const Against against;
    CHECK(against.run("kill -TERM $PPID; sleep 90") != 0);
    CHECK(against.says("interrupted by signal 15"));
}

/* Sizes that take next to no time. */
const std::map<std::string, std::string> small_sizes = {
    {"cmeans", "--points 2000 --iterations 2"},
    {"dgemm", "--rows 64"},
    {"gemv", "--rows 100 --columns 100"},
    {"gmm", "--points 2000 --iterations 2"},
    {"histogram", "--millions 1"},
    {"kmeans", "--points 2000 --iterations 2"},
    {"wordcount", "--megabytes 1"},
};

} // namespace

int main()
{
    test::Daemon daemon;
    const test::Cache cache;
    cache.keep(test::made_up_machine(2));
    std::vector<tap::Case> cases;
    std::istringstream names(SPMD_PROGRAMS);
    for (std::string name; names >> name;)
        cases.push_back({"the programs of map and reduce: " + name, [name] { check(name); }, why_not()});
    for (const auto &[name, size] : small_sizes)
        cases.push_back({"without a GPU: " + name,
                         [program = name, options = size] { measure_without_gpu(program, options); }, why_not()});
    for (const std::string name : {"kmeans", "wordcount"})
        cases.push_back({"weak scaling: " + name, [name] { measure_scaling(name, small_sizes.at(name)); }, why_not()});
    for (const std::string name : {"cmeans", "kmeans"})
        cases.push_back({"weak scaling with a GPU each: " + name,
                         [name] { measure_scaling_on_gpus(name, small_sizes.at(name)); }, why_not()});
    cases.push_back({"the worst of all programs", sum_up, why_not()});
    cases.push_back({"word count against another program", count_against, why_not()});
    cases.push_back({"word count against another program, interrupted", interrupt_against, why_not()});
    return tap::run(cases);
}
