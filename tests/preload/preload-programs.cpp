// SPDX-License-Identifier: MIT
/*
 * Unmodified programs under the interposer, with the virtual GPU for a device and the broker for a scheduler, both
 * started here. A program's output must be the same bare, scheduled, scheduled in company, and where no scheduler is;
 * and what the virtual GPU saw must fit what the programs and the scheduler said.
 */
#include "tests/preload/world.h"

#include <algorithm>

namespace {

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
    world->stop_scheduler();
    program.end_input();
    CHECK_EQ(program.wait(), 0);
    CHECK(program.out().find("spun") != std::string::npos);
    CHECK(lines(program.err()) <= 1);
    world->start_scheduler();
}

void waiter_freed_by_broker_death()
{
    Program holder(client({"spin", "0", "100"}), world->scheduled(), "holder");
    CHECK(holder.await("started"));
    Program other(client({"spin", "0", "100"}), world->scheduled(), "other");
    CHECK(other.await("started"));
    world->stop_scheduler();
    for (Program *program : {&holder, &other}) {
        /* One that has no need of the scheduler may come to its end before it sees that. */
        until([&] { return lines(program->err()) >= 1 || !program->running(); });
        program->end_input();
        CHECK_EQ(program->wait(), 0);
        CHECK_EQ(lines(program->err()), 1l);
    }
    world->start_scheduler();
}

/* A program that closes what it does not know loses its scheduler, and nothing else. */
void descriptors_taken()
{
    Outcome bare = run("takes-numbers", world->bare()), scheduled = run("takes-numbers", world->scheduled());
    CHECK_EQ(bare.status, 0);
    CHECK_EQ(scheduled.status, 0);
    CHECK(scheduled.out == bare.out);
    /* It may have come to its end before that was seen; and who sees it first knows only that the scheduler is gone. */
    CHECK(scheduled.err.empty() ||
          (lines(scheduled.err) == 1 && scheduled.err.find("unscheduled, because the ") != std::string::npos));
    if (scheduled.out != bare.out || !scheduled.err.empty())
        std::printf("# %s\n", (scheduled.out + scheduled.err).c_str());
}

/* Whoever waits for a turn, and whoever comes, goes on without it. */
void broker_stopped()
{
    if (under_module)
        return;
    Program holder(client({"spin", "0", "100"}), world->scheduled(), "holder");
    CHECK(holder.await("started"));
    Program other(client({"spin", "0", "100"}), world->scheduled(), "other");
    CHECK(other.await("started"));
    world->broker->signal(SIGSTOP);
    Outcome late = run("launches", world->scheduled());
    CHECK_EQ(late.status, 0);
    CHECK_EQ(lines(late.err), 1l);
    CHECK(late.err.find("unscheduled on device") != std::string::npos);
    CHECK(late.err.find("does not answer") != std::string::npos);
    /* One of them has the turn, and needs nothing of the broker's until it is called back. */
    until([&] { return lines(holder.err()) + lines(other.err()) >= 1; });
    CHECK((holder.err() + other.err()).find("does not answer") != std::string::npos);
    for (Program *program : {&holder, &other}) {
        program->end_input();
        CHECK_EQ(program->wait(), 0);
    }
    world->broker->signal(SIGCONT);
    Outcome after = run("launches", world->scheduled());
    CHECK_EQ(after.status, 0);
    CHECK(after.err.empty());
}

/* They have the place of their GPU on the bus in common, and must not take turns. */
void instances_are_devices()
{
    Environment environment = world->scheduled();
    environment["PTSCHED_VGPU_INSTANCES"] = "1";
    environment["PTSCHED_LOG"] = "debug";
    Outcome outcome = run("both-devices", environment);
    CHECK_EQ(outcome.status, 0);
    for (const char *last : {"1", "2"}) {
        const std::string name = std::string("MIG-01000000-0000-0000-0000-00000000000") + last;
        const char *what = under_module ? "running unscheduled on device " : "attached to ";
        /* Only the first warning of a kind is given. */
        if (under_module && *last == '2')
            continue;
        if (!CHECK(outcome.err.find(what + name) != std::string::npos))
            std::printf("# %s\n", outcome.err.c_str());
    }
    environment.erase("PTSCHED_VGPU_INSTANCES");
    outcome = run("both-devices", environment);
    for (const char *name : {"attached to ffff:01:00.0", "attached to ffff:02:00.0"})
        CHECK(outcome.err.find(name) != std::string::npos);
}

void relative_paths()
{
    if (under_module)
        return;
    Environment environment = world->scheduled();
    environment["PTSCHED_SOCKET"] = world->broker_socket.filename();
    environment["PTSCHED_STATS"] = "relative-stats";
    /* The program is started there, and has gone elsewhere when it needs them. */
    const fs::path before = fs::current_path();
    fs::current_path(scratch);
    Outcome outcome = run("elsewhere", environment);
    fs::current_path(before);
    CHECK_EQ(outcome.status, 0);
    CHECK(outcome.err.empty());
    CHECK(fs::exists(scratch / "relative-stats"));
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
        CHECK_EQ(stats.count(pid), std::size_t{1});
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

} // namespace

/* With an argument: only the cases whose name contains it. */
int main(int argc, char **argv)
{
    std::vector<tap::Case> cases;
    for (const char *scenario :
         {"launches", "copies", "graphs", "threads", "forks", "execs", "lives", "streams", "silence"})
        cases.push_back({std::string("same output bare, scheduled and in company: ") + scenario,
                         [scenario] { same_output(scenario); }});
    cases.push_back({"no scheduler: one line, same output", without_scheduler});
    cases.push_back({"PTSCHED_DISABLE: nothing but the program", disabled});
    cases.push_back({"a holder that is killed frees the turn for who waits", killed_holder_frees_the_turn});
    cases.push_back({"the broker is killed: the program goes on", broker_killed});
    cases.push_back({"the broker is killed under two that contend: both go on", waiter_freed_by_broker_death});
    cases.push_back({"the broker is stopped: who waits and who comes goes on", broker_stopped});
    cases.push_back({"instances of a divided GPU are devices of their own", instances_are_devices});
    cases.push_back({"relative paths are those of the folder of the start", relative_paths});
    cases.push_back(
        {"all our numbers are taken for files of the program's: these stay as they are", descriptors_taken});
    cases.push_back({"nice -20 against 19: work of a program executes in its turns only", only_in_the_turn});
    return run_cases(cases, argc, argv);
}
