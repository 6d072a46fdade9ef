// SPDX-License-Identifier: MIT
/*
 * Graphs that attach to ptsched: with the virtual GPU for a device and the broker for a scheduler, both started here;
 * in the test VM, the module. What is waited for is said by a program or by the broker; no time is looked at.
 */
#include "libptsched/base/time_calls.hpp"
#include "tests/nice.h"
#include "tests/preload/world.h"
#include <ptsched/device/turns.hpp>

namespace {

using nlohmann::json;

/* A program that does what it is told (client.cpp). */
class Client : public Program {
public:
    Client(const std::string &name, const std::string &how, const Environment &environment, int nice_value = 0,
           const std::string &privilege = "all")
        : Program({build / "tests/ptask-attach-client", how, privilege}, environment, name, nice_value)
    {
    }
    /* Waits until it is done. */
    void do_this(const std::string &what)
    {
        begin(what);
        if (!CHECK(finish(what)))
            std::printf("# %s\n", err().c_str());
    }
    void begin(const std::string &what) { tell(what + "\n"); }
    /* False if it ended without. */
    bool finish(const std::string &what)
    {
        bool done = await("\n" + what + "\n", done_);
        done_ = out().find("\n" + what + "\n", done_) + what.size() + 1;
        return done;
    }
    int end()
    {
        end_input();
        return wait();
    }

private:
    std::size_t done_ = 0; /* of its output */
};

/* As a program is that attaches itself. */
Environment attached()
{
    Environment environment = world->scheduled();
    environment.erase("LD_PRELOAD");
    return environment;
}

/* A new world; graphs would use all GPUs. */
void one_gpu()
{
    renew_world({"--devices", "1"});
}

json status()
{
    std::vector<std::string> words{build / "bin/ptsched", "stat", "--json"};
    if (!under_module)
        words.insert(words.end(), {"--broker", world->broker_socket});
    Program stat(words, {}, "stat");
    CHECK_EQ(stat.wait(), 0);
    return json::parse(stat.out(), nullptr, false);
}

/* A process on the first device; null if it is not there. */
json entity(pid_t pid)
{
    const json all = status();
    for (const auto &entity : all["entities"])
        if (entity["pid"] == pid && entity["device_id"] == 0)
            return entity;
    return nullptr;
}

std::uint64_t counter(pid_t pid, const char *name)
{
    json found = entity(pid);
    return found.is_null() ? 0 : found["counters"][name].get<std::uint64_t>();
}

std::uint64_t device_counter(const char *name)
{
    return status()["devices"][0]["counters"][name].get<std::uint64_t>();
}

void until_state(const Program &program, const std::string &state)
{
    until([&] {
        json found = entity(program.pid());
        return !program.running() || (!found.is_null() && found["state"] == state);
    });
    CHECK(program.running());
}

void idle_turns_go_back()
{
    one_gpu();
    Client graph("graph", "required", attached()), other("other", "none", attached());
    graph.do_this("run 3");
    CHECK(entity(graph.pid())["state"] == "holding");
    other.do_this("take");
    CHECK(entity(graph.pid())["state"] != "holding");
    CHECK_EQ(counter(graph.pid(), "submissions"), std::uint64_t{3});
    CHECK(counter(graph.pid(), "gpu_ns") > 0);

    /* Without a turn its kernels wait, and nothing else does. */
    graph.do_this("push");
    until_state(graph, "waiting");
    graph.do_this("host");
    CHECK_EQ(counter(graph.pid(), "submissions"), std::uint64_t{3});
    graph.begin("pull");
    graph.begin("host");
    until_state(graph, "waiting");
    other.do_this("give");
    CHECK(graph.finish("pull"));
    CHECK(graph.finish("host"));
    CHECK_EQ(graph.end(), 0);
    CHECK(graph.err().empty());
}

/* Of the thread of @pid with that name, bit by bit; 0 if there is none. */
std::uint64_t blocked_signals(pid_t pid, const std::string &name)
{
    for (const auto &thread : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream status(thread.path() / "status");
        std::string word, found;
        while (status >> word)
            if (word == "Name:")
                status >> found;
            else if (word == "SigBlk:" && found == name)
                return status >> word ? std::stoull(word, nullptr, 16) : 0;
    }
    return 0;
}

/* Signals are the program's. */
/* But for those that its own instructions raise. */
void its_thread_takes_no_signals()
{
    one_gpu();
    Client graph("graph", "required", attached());
    graph.do_this("run 1");
    const std::uint64_t blocked = blocked_signals(graph.pid(), "ptask-attach");
    sigset_t all;
    sigfillset(&all);
    for (const int never : {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
        sigdelset(&all, never);
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        CHECK_EQ(blocked >> (signal - 1) & 1, static_cast<std::uint64_t>(sigismember(&all, signal)));
    CHECK_EQ(graph.end(), 0);
}

/*
 * Both always have work; what executes of one in the other's turn would change the device's context more often. What
 * each gets is told here; that it is by weight, the policy's tests check in virtual time.
 */
void turns_of_two_graphs()
{
    one_gpu();
    Client low("low", "required", attached(), 15);
    low.do_this("spin");
    until_state(low, "holding");
    Client high("high", "required", attached());
    high.do_this("spin");
    auto until_turns = [&](const Client &of, std::uint64_t least) {
        until([&] { return !low.running() || !high.running() || counter(of.pid(), "turns") >= least; });
    };
    /* What one has had before the other came does not count. */
    until_turns(high, 1);
    const json low_before = entity(low.pid())["counters"], high_before = entity(high.pid())["counters"];
    until_turns(low, low_before["turns"].get<std::uint64_t>() + 5);
    auto since = [](const Client &client, const json &before) {
        return counter(client.pid(), "occupancy_ns") - before["occupancy_ns"].get<std::uint64_t>();
    };
    const std::uint64_t to_low = since(low, low_before), to_high = since(high, high_before);
    std::printf("# nice 0 over nice 15: %.1f\n", double(to_high) / double(to_low));
    high.do_this("rest");
    low.do_this("rest");
    auto turns = device_counter("turns");
    auto switches = world->truth()["switches"].get<std::uint64_t>();
    std::printf("# %lu switches, %lu turns\n", switches, turns);
    CHECK(switches <= turns + 2);
    for (const Client *client : {&low, &high})
        CHECK(counter(client->pid(), "gpu_ns") > 0);
    CHECK_EQ(low.end(), 0);
    CHECK_EQ(high.end(), 0);
}

/* Who pushes is charged, under its own weight, and shares its turn with the graph. */
void requesters_are_charged()
{
    one_gpu();
    std::string path = scratch / "graph";
    Client server("server", "required", attached()), requester("requester", "none", attached(), 5);
    server.do_this("serve " + path);
    requester.do_this("take");
    requester.do_this("remote " + path);
    json found = entity(requester.pid());
    CHECK(found["weight"] == 335);
    CHECK(found["state"] == "holding");
    CHECK(found["clients"] == 1);
    CHECK_EQ(counter(server.pid(), "turns"), std::uint64_t{0});
    until([&] { return !server.running() || counter(requester.pid(), "submissions") == 10; });
    CHECK_EQ(counter(server.pid(), "submissions"), std::uint64_t{0});

    /* Its own again. */
    requester.do_this("give");
    CHECK_EQ(requester.end(), 0);
    server.do_this("run 1");
    CHECK_EQ(server.end(), 0);
    CHECK(server.err().empty());
}

/* One process has two graphs, and is charged for neither. */
void graph_by_graph()
{
    one_gpu();
    const std::string first = scratch / "first", second = scratch / "second";
    Client server("server", "required", attached());
    Client a("a", "none", attached(), 5), b("b", "none", attached(), 10);
    server.do_this("serve " + first);
    server.do_this("twin " + second);
    a.begin("remote " + first);
    b.begin("remote " + second);
    CHECK(a.finish("remote " + first));
    CHECK(b.finish("remote " + second));
    a.do_this("remote " + first);
    until([&] {
        std::uint64_t all = 0;
        for (const Client *one : {&server, &a, &b})
            all += counter(one->pid(), "submissions");
        return !server.running() || all == 30;
    });
    CHECK_EQ(counter(a.pid(), "submissions"), std::uint64_t{20});
    CHECK_EQ(counter(b.pid(), "submissions"), std::uint64_t{10});
    CHECK_EQ(counter(server.pid(), "turns"), std::uint64_t{0});
    for (const Client *one : {&a, &b})
        CHECK(counter(one->pid(), "gpu_ns") > 0);
    CHECK(entity(server.pid())["weight"] > entity(a.pid())["weight"]);
    CHECK(entity(a.pid())["weight"] > entity(b.pid())["weight"]);
    CHECK_EQ(server.end(), 0);
    CHECK(server.err().empty());
}

/* Each push replaces the requester, and not the turn. */
void requesters_alternate()
{
    using ptsched::device::Turns;
    one_gpu();
    const std::string path = scratch / "graph";
    Client server("server", "required", attached()), a("a", "none", attached()), b("b", "none", attached());
    server.do_this("serve " + path);
    /* They stay on the device while the graph works for the other. */
    for (Client *one : {&a, &b}) {
        one->do_this("take");
        one->do_this("give");
    }
    const std::uint64_t turns_before = device_counter("turns"), began_ns = ptsched::monotonic_ns();
    auto both_were_charged = [&] { return counter(a.pid(), "submissions") && counter(b.pid(), "submissions"); };
    for (int i = 0; i < 20 || !both_were_charged(); i++)
        for (Client *one : {&a, &b}) {
            one->do_this("push-to " + path);
            one->do_this("pull-from " + path);
        }
    const std::uint64_t turns = device_counter("turns") - turns_before;
    const std::uint64_t most = 1 + (ptsched::monotonic_ns() - began_ns) / Turns::requester_ns;
    std::printf("# %lu turns, %lu may be\n", turns, most);
    CHECK(turns <= most);
    CHECK_EQ(counter(server.pid(), "turns"), std::uint64_t{0});
    CHECK_EQ(server.end(), 0);
}

/* It need not come to rest for that. */
void requesters_of_busy_graphs()
{
    one_gpu();
    const std::string path = scratch / "graph";
    Client server("server", "required", attached()), requester("requester", "none", attached());
    server.do_this("serve " + path);
    server.do_this("spin");
    until_state(server, "holding");
    requester.do_this("push-to " + path);
    until([&] { return !server.running() || counter(requester.pid(), "submissions"); });
    server.do_this("rest");
    CHECK_EQ(server.end(), 0);
}

/* Fed by its own process, a graph works for who takes what it makes, unless another pushes. */
void consumers_are_charged()
{
    one_gpu();
    const std::string path = scratch / "graph";
    Client server("server", "required", attached());
    Client producer("producer", "none", attached()), consumer("consumer", "none", attached(), 5);
    server.do_this("serve " + path);
    auto submissions_of = [](const Client &client) { return counter(client.pid(), "submissions"); };
    auto pass_until_more_of = [&](const Client &client, std::uint64_t before) {
        until([&] {
            server.do_this("push");
            consumer.do_this("pull-from " + path);
            return !server.running() || submissions_of(client) > before;
        });
    };
    pass_until_more_of(consumer, 0);
    /* Together with what it does itself. */
    consumer.do_this("take");
    pass_until_more_of(consumer, submissions_of(consumer));
    consumer.do_this("give");

    producer.do_this("push-to " + path);
    pass_until_more_of(producer, 0);
    const std::uint64_t before = submissions_of(consumer);
    pass_until_more_of(producer, submissions_of(producer));
    CHECK_EQ(submissions_of(consumer), before);

    CHECK_EQ(producer.end(), 0);
    pass_until_more_of(consumer, before);

    server.do_this("own");
    pass_until_more_of(server, submissions_of(server));
    const std::uint64_t until_own = submissions_of(consumer);
    pass_until_more_of(server, submissions_of(server));
    CHECK_EQ(submissions_of(consumer), until_own);
    CHECK_EQ(server.end(), 0);
    CHECK(server.err().empty());
}

/* Whose requester weighs more than it may have. */
void no_more_than_its_own_weight()
{
    one_gpu();
    std::string path = scratch / "graph";
    Client server("server", "required", attached(), 5, "unprivileged"), requester("requester", "none", attached());
    server.do_this("serve " + path);
    requester.do_this("remote " + path);
    until([&] { return !server.running() || counter(server.pid(), "submissions") == 10; });
    CHECK(entity(server.pid())["weight"] == 335);
    CHECK_EQ(counter(requester.pid(), "turns"), std::uint64_t{0});
    CHECK_EQ(server.end(), 0);
    CHECK_EQ(lines(server.err()), 1l);
    CHECK(server.err().find("under its own weight") != std::string::npos);
}

void failed_graphs_hold_no_turn()
{
    Client graph("graph", "required", attached()), other("other", "none", attached());
    graph.do_this("push");
    graph.do_this("fail");
    other.do_this("take");
    CHECK(graph.running());
    CHECK_EQ(graph.end(), 0);
}

/* One of the two waits for a turn. */
void the_broker_dies()
{
    Client holder("holder", "required", attached()), waiter("waiter", "required", attached());
    holder.do_this("spin");
    waiter.do_this("spin");
    until([&] {
        return !holder.running() || !waiter.running() ||
               (counter(holder.pid(), "turns") && counter(waiter.pid(), "turns"));
    });
    world->stop_scheduler();
    for (Client *client : {&holder, &waiter}) {
        client->do_this("rest");
        client->do_this("run 3");
        CHECK_EQ(client->end(), 0);
        CHECK_EQ(lines(client->err()), 1l);
        CHECK(client->err().find("unscheduled") != std::string::npos);
    }
    world->start_scheduler();
}

/* Who waits does not keep a graph from being stopped. */
void stopped_while_it_waits()
{
    Client other("other", "none", attached()), graph("graph", "required", attached());
    other.do_this("take");
    graph.do_this("push");
    until_state(graph, "waiting");
    CHECK_EQ(graph.end(), 0);
}

void without_scheduler()
{
    const Environment nobody = attached();
    world->stop_scheduler();
    Client maybe("maybe", "if-possible", nobody), must("must", "required", nobody), no("no", "no", nobody);
    maybe.do_this("run 3");
    CHECK_EQ(maybe.end(), 0);
    CHECK_EQ(lines(maybe.err()), 1l);
    CHECK(maybe.err().find("unscheduled") != std::string::npos);
    CHECK(must.end() != 0);
    if (!CHECK(must.err().find("no scheduler") != std::string::npos))
        std::printf("# it said: %s\n", must.err().c_str());
    no.do_this("run 3");
    CHECK_EQ(no.end(), 0);
    CHECK(no.err().empty());
    world->start_scheduler();
}

/* The interposer sees what the program itself copies, and nothing of the graph's. */
void under_the_interposer()
{
    one_gpu();
    Client graph("graph", "required", world->scheduled()), other("other", "required", attached(), 5);
    other.do_this("spin");
    graph.do_this("run 50");
    graph.do_this("push");
    graph.do_this("read");
    until([&] { return !graph.running() || counter(graph.pid(), "submissions") >= 51; });
    CHECK(entity(graph.pid())["clients"] == 2);
    other.do_this("rest");
    pid_t pid = graph.pid();
    CHECK_EQ(graph.end(), 0);
    CHECK_EQ(other.end(), 0);
    CHECK(graph.err().empty());
    auto stats = world->stats();
    CHECK_EQ(stats.count(pid), std::size_t{1});
    if (stats.count(pid))
        CHECK(stats[pid]["submissions"] == 1);
}

} // namespace

int main(int argc, char **argv)
{
    test::begin_at_nice_0();
    std::vector<tap::Case> cases = {
        {"a turn goes back when it is not used, and without one only kernels wait", idle_turns_go_back},
        {"the thread that waits for turns takes no signals", its_thread_takes_no_signals},
        {"graphs of two processes have the device each in its turns", turns_of_two_graphs},
        {"who asked a graph for work is charged, and shares its turn with it", requesters_are_charged},
        {"graphs of one process work each for another's", graph_by_graph},
        {"requesters that take turns at pushing do not end the graph's", requesters_alternate},
        {"a graph that is never idle works for who asked, too", requesters_of_busy_graphs},
        {"who pulls is charged where no other process pushes", consumers_are_charged},
        {"a graph works under its own weight if who asked weighs more", no_more_than_its_own_weight},
        {"a graph that has failed holds no turn", failed_graphs_hold_no_turn},
        {"a graph that waits for a turn can be stopped", stopped_while_it_waits},
        {"no scheduler: one line, or an error", without_scheduler},
        {"under the interposer a graph is gated once", under_the_interposer}};
    /* A module does not go while somebody is attached. */
    if (!under_module)
        cases.push_back({"the broker dies: graphs go on", the_broker_dies});
    return run_cases(cases, argc, argv);
}
