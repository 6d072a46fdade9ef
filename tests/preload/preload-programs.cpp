/* SPDX-License-Identifier: MIT */
/*
 * Unmodified programs under the interposer, with the virtual GPU for a device and the broker for a scheduler, both
 * started here. A program's output must be the same bare, scheduled, scheduled in company, and where no scheduler is;
 * and what the virtual GPU saw must fit what the programs and the scheduler said.
 */
#include "tap.h"
#include "under_preload.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

namespace {

namespace fs = std::filesystem;
using Environment = std::map<std::string, std::string>;

/* clang's thread sanitizer has an ioctl() in the program itself, which comes before any preloaded one. */
constexpr bool preload_sees_ioctl = !__has_feature(thread_sanitizer);

const fs::path build = program_folder().parent_path();
fs::path scratch;

/* A child process with its output in files and its input held open. */
class Program {
public:
    Program(std::vector<std::string> words, const Environment &environment, const std::string &name, int nice_value = 0)
        : out_(scratch / (name + ".out")), err_(scratch / (name + ".err"))
    {
        int input[2] = {-1, -1};
        if (pipe2(input, O_CLOEXEC) < 0)
            std::abort();
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test crash */
            dup2(input[0], STDIN_FILENO);
            close(input[0]);
            close(input[1]);
            if (!std::freopen(out_.c_str(), "w", stdout) || !std::freopen(err_.c_str(), "w", stderr))
                _exit(125);
            for (const auto &[key, value] : environment)
                setenv(key.c_str(), value.c_str(), 1);
            if (nice_value && nice(nice_value) == -1)
                _exit(126);
            std::vector<char *> argv;
            for (std::string &word : words)
                argv.push_back(word.data());
            argv.push_back(nullptr);
            execv(argv[0], argv.data());
            _exit(127);
        }
        close(input[0]);
        input_ = input[1];
    }
    ~Program()
    {
        end_input();
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            wait();
        }
    }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    void end_input()
    {
        if (input_ >= 0)
            close(input_);
        input_ = -1;
    }
    void signal(int number) { kill(pid_, number); }
    int wait()
    {
        int status = -1;
        if (pid_ > 0)
            waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }
    pid_t pid() const { return pid_; }
    std::string out() const { return read(out_); }
    std::string err() const { return read(err_); }
    /* Until it has printed @text; false if it ended without. */
    bool await(const std::string &text)
    {
        for (;;) {
            if (out().find(text) != std::string::npos)
                return true;
            siginfo_t info{};
            if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
                return out().find(text) != std::string::npos;
            poll(nullptr, 0, 5);
        }
    }

private:
    static std::string read(const fs::path &path)
    {
        std::ifstream file(path);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    fs::path out_, err_;
    int input_{-1};
    pid_t pid_{-1};
};

/* A socket that somebody listens on. */
void await_socket(const fs::path &path)
{
    while (!fs::exists(path))
        poll(nullptr, 0, 5);
}

struct World {
    fs::path gpu_socket = scratch / "gpu", broker_socket = scratch / "broker", stats_file = scratch / "stats";
    std::unique_ptr<Program> gpu, broker;

    explicit World(const std::vector<std::string> &gpu_options = {})
    {
        for (const fs::path &path : {gpu_socket, broker_socket, stats_file})
            fs::remove(path);
        std::vector<std::string> words{build / "vgpu/vgpud", "--socket", gpu_socket, "--devices", "2"};
        words.insert(words.end(), gpu_options.begin(), gpu_options.end());
        gpu = std::make_unique<Program>(words, Environment{}, "vgpud");
        await_socket(gpu_socket);
        start_broker();
    }
    void start_broker()
    {
        fs::remove(broker_socket);
        /* No turn is shared by force, so that none may be interleaved. */
        broker = std::make_unique<Program>(std::vector<std::string>{build / "bin/ptschedd", "--socket", broker_socket,
                                                                    "--test-devices", "2", "--drain-us", "10000000"},
                                           Environment{}, "ptschedd");
        await_socket(broker_socket);
    }

    Environment bare() const
    {
        return {{"PTSCHED_VGPU_SOCKET", gpu_socket},
                {"PTSCHED_TEST_KERNELS", build / "vgpu/kernels.so"},
                {"LD_LIBRARY_PATH", build / "vgpu"},
                {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"},
                {"TSAN_OPTIONS", "die_after_fork=0"}};
    }
    Environment scheduled() const
    {
        Environment environment = bare();
        environment["LD_PRELOAD"] = build / "lib/libptsched-preload.so";
        environment["PTSCHED_SOCKET"] = broker_socket;
        environment["PTSCHED_DEVICE_NODE"] = "/nonexistent";
        environment["PTSCHED_STATS"] = stats_file;
        return environment;
    }
    /* With a driver that shows its channels. */
    Environment preemptible(const char *level = "preempt") const
    {
        Environment environment = scheduled();
        environment["LD_PRELOAD"] += ":" + (build / "vgpu/rm-shim.so").string();
        environment["PTSCHED_LEVEL"] = level;
        environment["PTSCHED_LOG"] = "debug";
        return environment;
    }
    Environment unscheduled() const
    {
        Environment environment = scheduled();
        environment["PTSCHED_SOCKET"] = scratch / "nobody";
        return environment;
    }

    /* What the processes wrote to PTSCHED_STATS, by process. */
    std::map<int, nlohmann::json> stats() const
    {
        std::map<int, nlohmann::json> all;
        std::ifstream file(stats_file);
        for (std::string line; std::getline(file, line);) {
            auto json = nlohmann::json::parse(line);
            all[json["pid"].get<int>()] = json;
        }
        return all;
    }
    /* What the virtual GPU saw on device 0. */
    nlohmann::json truth() const
    {
        Program stat({build / "vgpu/vgpu-stat", "--json"}, bare(), "vgpu-stat");
        CHECK_EQ(stat.wait(), 0);
        auto json = nlohmann::json::parse(stat.out(), nullptr, false);
        if (json.is_array())
            return json[0];
        return json.contains("devices") ? json["devices"][0] : json;
    }
};

World *world;

std::vector<std::string> client(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), build / "tests/preload-client");
    return arguments;
}

struct Outcome {
    int status;
    std::string out, err;
};

Outcome run(const std::string &scenario, const Environment &environment)
{
    Program program(client({scenario}), environment, "program");
    int status = program.wait();
    return {status, program.out(), program.err()};
}

long lines(const std::string &text)
{
    return std::count(text.begin(), text.end(), '\n');
}

void same_output(const std::string &scenario)
{
    Outcome bare = run(scenario, world->bare());
    CHECK_EQ(bare.status, 0);
    CHECK(!bare.out.empty());

    Outcome scheduled = run(scenario, world->scheduled());
    CHECK_EQ(scheduled.status, 0);
    CHECK(scheduled.out == bare.out);
    CHECK(scheduled.err.empty());

    Program company(client({"spin", "0", "500"}), world->scheduled(), "company");
    CHECK(company.await("started"));
    Outcome contended = run(scenario, world->scheduled());
    CHECK_EQ(contended.status, 0);
    CHECK(contended.out == bare.out);
    CHECK(contended.err.empty());
    company.end_input();
    CHECK_EQ(company.wait(), 0);
    for (const Outcome &outcome : {scheduled, contended}) {
        if (outcome.out != bare.out || !outcome.err.empty())
            std::printf("# %s\n", (outcome.out + outcome.err).substr(0, 300).c_str());
    }
}

void without_scheduler()
{
    for (const char *scenario : {"launches", "threads"}) {
        Outcome bare = run(scenario, world->bare()), unscheduled = run(scenario, world->unscheduled());
        CHECK_EQ(unscheduled.status, 0);
        CHECK(unscheduled.out == bare.out);
        CHECK_EQ(lines(unscheduled.err), 1l);
        CHECK(unscheduled.err.starts_with("ptsched: ") && unscheduled.err.find("unscheduled") != std::string::npos);
    }
}

void disabled()
{
    Environment environment = world->unscheduled();
    environment["PTSCHED_DISABLE"] = "1";
    Outcome bare = run("launches", world->bare()), off = run("launches", environment);
    CHECK_EQ(off.status, 0);
    CHECK(off.out == bare.out);
    CHECK(off.err.empty());
}

void broker_killed()
{
    Program program(client({"spin", "0", "200"}), world->scheduled(), "orphan");
    CHECK(program.await("started"));
    world->broker->signal(SIGKILL);
    world->broker->wait();
    program.end_input();
    CHECK_EQ(program.wait(), 0);
    CHECK(program.out().find("spun") != std::string::npos);
    CHECK(lines(program.err()) <= 1);
    world->start_broker();
}

void waiter_freed_by_broker_death()
{
    Program holder(client({"spin", "0", "100"}), world->scheduled(), "holder");
    CHECK(holder.await("started"));
    Program other(client({"spin", "0", "100"}), world->scheduled(), "other");
    CHECK(other.await("started"));
    world->broker->signal(SIGKILL);
    world->broker->wait();
    for (Program *program : {&holder, &other}) {
        program->end_input();
        CHECK_EQ(program->wait(), 0);
        CHECK_EQ(lines(program->err()), 1l);
    }
    world->start_broker();
}

void killed_holder_frees_the_turn()
{
    Program holder(client({"spin", "0", "1000", "64"}), world->scheduled(), "holder");
    CHECK(holder.await("started"));
    Program waiter(client({"spin", "10", "100"}), world->scheduled(), "waiter");
    holder.signal(SIGKILL);
    holder.wait();
    CHECK_EQ(waiter.wait(), 0);
}

constexpr int lowest = 19;

int highest()
{
    /* An ordinary user cannot go below 0. */
    return geteuid() == 0 ? -20 : 0;
}

void renew_world(const std::vector<std::string> &gpu_options = {})
{
    delete world;
    world = nullptr;
    world = new World(gpu_options);
}

/*
 * Two programs that both always have work. Were a kernel of one executed in the other's turn, the device would change
 * between their contexts more often than the turn changed hands.
 */
void only_in_the_turn()
{
    renew_world();
    Program low(client({"spin", "0", "1000", "16"}), world->scheduled(), "low", lowest);
    CHECK(low.await("started"));
    Program high(client({"spin", "150", "1000"}), world->scheduled(), "high", highest());
    pid_t pids[] = {high.pid(), low.pid()};
    CHECK_EQ(high.wait(), 0);
    low.end_input();
    CHECK_EQ(low.wait(), 0);
    auto stats = world->stats();
    auto truth = world->truth();
    unsigned long turns = 0;
    for (pid_t pid : pids) {
        CHECK_EQ(stats.count(pid), size_t{1});
        if (!stats.count(pid))
            return;
        turns += stats[pid].value("turns", 0ul) + 1;
        for (const auto &owner : truth["owners"]) {
            if (owner["pid"] != pid)
                continue;
            double charged = stats[pid]["gpu_ns"].get<double>(), used = owner["gpu_ns"].get<double>();
            std::printf("# charged / used: %.3f\n", charged / used);
            CHECK(charged > 0.5 * used);
        }
    }
    CHECK_EQ(stats[pids[0]].value("submissions", 0ul), 151ul);
    unsigned long switches = truth["switches"].get<unsigned long>();
    std::printf("# %lu switches, %lu turns\n", switches, turns);
    CHECK(switches <= turns + 2);
    CHECK(stats[pids[1]].value("turns", 0ul) >= 1);
}

/* A program with long kernels, and a heavier one with short ones beside it; what the first said and counted. */
struct LongBesideShort {
    std::string log;
    nlohmann::json stats;

    explicit LongBesideShort(const Environment &environment)
    {
        Program low(client({"spin", "0", "60000", "2"}), environment, "low", lowest);
        CHECK(low.await("started"));
        /* Each asks anew, after its linger time. */
        for (int i = 0; i < 5; i++) {
            Program high(client({"spin", "20", "500"}), environment, "high", highest());
            CHECK_EQ(high.wait(), 0);
        }
        pid_t pid = low.pid();
        low.end_input();
        CHECK_EQ(low.wait(), 0);
        CHECK(low.out().find("spun") != std::string::npos);
        log = low.err();
        auto all = world->stats();
        CHECK_EQ(all.count(pid), size_t{1});
        stats = all[pid];
    }
    unsigned long preemptions() const { return stats.value("preemptions", 0ul); }
    bool says(const char *text) const
    {
        bool found = log.find(text) != std::string::npos;
        if (!found)
            std::printf("# not in the log: %s\n# %s\n", text, log.c_str());
        return found;
    }
};

void taken_off_in_the_middle()
{
    renew_world();
    LongBesideShort found(world->preemptible());
    CHECK(found.says("level preempt\n"));
    CHECK(found.preemptions() > 0);
    std::printf("# %lu preemptions\n", found.preemptions());
}

void lower_levels()
{
    renew_world();
    LongBesideShort slice(world->preemptible("slice")), gate(world->preemptible("gate"));
    CHECK(slice.says("level slice\n"));
    CHECK_EQ(slice.preemptions(), 0ul);
    CHECK(gate.says("level gate\n"));
    CHECK_EQ(gate.preemptions(), 0ul);
}

void no_effect()
{
    renew_world({"--switch-ignored"});
    LongBesideShort found(world->preemptible());
    CHECK(found.says("level slice, since it has no effect\n"));
    CHECK_EQ(found.preemptions(), 0ul);
}

void fails_later()
{
    /* The trial is the first; so is it of the other program. */
    renew_world({"--switch-calls", "3"});
    LongBesideShort found(world->preemptible());
    CHECK(found.says("level preempt\n"));
    CHECK(found.says("level slice, since the driver answers 0x56\n"));
}

void killed_while_off()
{
    renew_world();
    Program low(client({"spin", "0", "60000", "2"}), world->preemptible(), "low", lowest);
    CHECK(low.await("started"));
    Program high(client({"spin", "0", "500", "4"}), world->preemptible(), "high", highest());
    CHECK(high.await("started"));
    pid_t pid = low.pid();
    auto owner = [&](pid_t of) {
        auto truth = world->truth();
        for (const auto &entry : truth["owners"])
            if (entry["pid"] == of)
                return entry;
        return nlohmann::json();
    };
    /* Off, it makes no progress with its kernel while the other does. */
    auto before = owner(pid), other = owner(high.pid());
    for (;;) {
        poll(nullptr, 0, 5);
        auto now = owner(pid), other_now = owner(high.pid());
        if (now["gpu_ns"] == before["gpu_ns"] && other_now["items"] != other["items"])
            break;
        before = now;
        other = other_now;
    }
    CHECK_EQ(before["contexts"].get<int>(), 1);
    low.signal(SIGKILL);
    low.wait();
    while (owner(pid)["contexts"] != 0)
        poll(nullptr, 0, 5);
    high.end_input();
    CHECK_EQ(high.wait(), 0);
    CHECK_EQ(run("launches", world->preemptible()).status, 0);
}

} // namespace

/* With an argument: only the cases whose name contains it. */
int main(int argc, char **argv)
{
    char folder[] = "/tmp/preload-programs.XXXXXX";
    if (!mkdtemp(folder))
        return 2;
    scratch = folder;
    world = new World;
    std::vector<tap::Case> cases;
    for (const char *scenario : {"launches", "copies", "graphs", "threads", "forks", "execs", "lives"})
        cases.push_back({std::string("same output bare, scheduled and in company: ") + scenario,
                         [scenario] { same_output(scenario); }});
    cases.push_back({"no scheduler: one line, same output", without_scheduler});
    cases.push_back({"PTSCHED_DISABLE: nothing but the program", disabled});
    cases.push_back({"a holder that is killed frees the turn for who waits", killed_holder_frees_the_turn});
    cases.push_back({"the broker is killed: the program goes on", broker_killed});
    cases.push_back({"the broker is killed under two that contend: both go on", waiter_freed_by_broker_death});
    cases.push_back({"nice -20 against 19: work of a program executes in its turns only", only_in_the_turn});
    if (preload_sees_ioctl)
        cases.insert(cases.end(), {{"preempt: work is taken off in the middle, and goes on", taken_off_in_the_middle},
                                   {"PTSCHED_LEVEL: nothing better than it says", lower_levels},
                                   {"a switch without effect is found out", no_effect},
                                   {"a switch that fails later is not used again", fails_later},
                                   {"a program is killed while it is off: nothing of it stays", killed_while_off}});
    if (argc > 1)
        std::erase_if(cases, [&](const tap::Case &c) { return c.name.find(argv[1]) == std::string::npos; });
    int result = tap::run(cases);
    delete world;
    fs::remove_all(scratch);
    return result;
}
