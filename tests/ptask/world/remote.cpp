// SPDX-License-Identifier: MIT
/* Graphs whose ports other processes use. */
#include "tests/graph_clock.hpp"
#include "tests/ptask/world/world_test.hpp"
#include "tests/threads.h"
#include <ptsched/ptask/remote.hpp>

#include <map>
#include <sys/stat.h>

namespace test {

namespace {

/* Another process, which begins when it is told to, and says when it has come somewhere. */
class Peer {
public:
    using Body = std::function<void(Peer &)>;
    explicit Peer(const Body &body)
    {
        if (child_.emplace(fork()))
            return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        begin_.to.reset();
        char go;
        if (read(begin_.from.get(), &go, 1) != 1)
            _exit(1);
        tap::failed_here = false;
        try {
            body(*this);
        } catch (const std::exception &error) {
            std::printf("# peer: %s\n", error.what());
            tap::failed_here = true;
        }
        std::fflush(stdout);
        _exit(tap::failed_here);
    }
    void begin() { CHECK_EQ(write(begin_.to.get(), "g", 1), ssize_t{1}); }
    void say() { CHECK_EQ(write(said_.to.get(), "s", 1), ssize_t{1}); }
    void until_it_says()
    {
        char said;
        CHECK_EQ(read(said_.from.get(), &said, 1), ssize_t{1});
    }
    int end(int signal = 0) { return child_->end(signal); }

private:
    Pipe begin_, said_;
    std::optional<Child> child_;
};

bool push(Remote &remote, const std::vector<int> &values, Timeout timeout = {})
{
    SharedMemory memory(bytes_of(values));
    std::copy(values.begin(), values.end(), memory.as<int>().begin());
    return remote.push(std::move(memory), timeout);
}

std::vector<int> pulled_from(Remote &remote)
{
    return content<int>(remote.pull());
}

void round_trip()
{
    Place place;
    Peer producer([&](Peer &) {
        Remote x(place.path(), "x", Remote::to_push);
        CHECK_EQ(x.form().bytes(), eight.bytes());
        for (int i = 0; i < 50; i++)
            CHECK(push(x, numbers(8, i)));
        CHECK(x.end_stream());
    });
    Peer consumer([&](Peer &) {
        Remote y(place.path(), "y", Remote::to_pull);
        for (int i = 0; i < 50; i++)
            CHECK(pulled_from(y) == numbers(8, i + 1));
        std::optional<Item> end = y.take();
        CHECK(end && end->end_of_stream && !end->block);
    });
    Line line(eight, 2);
    Server server(place.path(), {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    producer.begin();
    consumer.begin();
    CHECK_EQ(producer.end(), 0);
    CHECK_EQ(consumer.end(), 0);
}

/* A task that writes in place gets a copy of what it may not write. */
void in_place_on_the_host()
{
    Place place;
    Line line(Template::variable<int>(8));
    Server server(place.path(), {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    Remote x(place.path(), "x", Remote::to_push), y(place.path(), "y", Remote::to_pull);
    CHECK(push(x, numbers(5)));
    CHECK(pulled_from(y) == numbers(5, 1));
    CHECK(push(x, {}));
    DatablockPtr none = y.pull();
    CHECK(none && !none->bytes());
}

void errors_and_timeouts()
{
    Place place;
    Line line(eight, 1);
    Server server(place.path(), {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    Remote x(place.path(), "x", Remote::to_push), y(place.path(), "y", Remote::to_pull);
    CHECK(!y.take(0ns));
    line.x.send({nullptr, false, std::make_shared<const std::string>("lost")});
    CHECK(refused([&] { y.pull(); }, {"lost"}));
    CHECK(refused([&] { push(x, numbers(7)); }, {"28 bytes", "line.x", "8 x 1 x 1"}));
    CHECK(refused([&] { Remote z(place.path(), "z", Remote::to_push); }, {"does not serve z", "x (in)", "y (out)"}));
    CHECK(refused([&] { Remote z(place.path(), "x", Remote::to_pull); }, {"does not serve x to who pulls", "x (in)"}));
    CHECK(refused([&] { Remote z(place.path(), "y", Remote::to_push); }, {"does not serve y to who pushes"}));
    CHECK(refused([&] { x.pull(); }, {"is to push", "to_pull would do"}));
    CHECK(refused([&] { x.take(); }, {"is to push"}));
    CHECK(refused([&] { y.end_stream(); }, {"is to pull", "to_push would do"}));
    CHECK(refused([&] { push(y, numbers(8)); }, {"is to pull"}));
    CHECK(refused([&] { Remote z(place.folder + "/none", "x", Remote::to_push); }, {"no graph", "none"}));
    CHECK(refused([&] { Server again(place.path(), {}, {}); }, {"cannot be served", place.path()}));
    /* One before the task and one after it, at most: so one of three is not in. */
    int in = 0;
    for (int i = 0; i < 3; i++)
        in += push(x, numbers(8, i), i < 2 ? Timeout() : Timeout(0ns));
    CHECK_EQ(in, 2);
}

void pushed_again()
{
    Place place;
    Line line(eight, 1);
    Server server(place.path(), {{"x", &line.x}}, {});
    Remote x(place.path(), "x", Remote::to_push);
    CHECK(push(x, numbers(8)));
    SharedMemory memory(eight.bytes());
    std::ranges::copy(numbers(8, 10), memory.as<int>().begin());
    for (int i = 0; i < 3; i++)
        CHECK(!x.push(std::move(memory), 1ms));
    CHECK(!memory.data() && memory.as<int>().empty());
    line.graph.run();
    CHECK(x.push(std::move(memory)));
    CHECK(pulled<int>(line.y) == numbers(8, 1));
    CHECK(pulled<int>(line.y) == numbers(8, 11));
}

/* What comes meanwhile is not lost. */
void no_descriptor_for_what_is_pulled()
{
    Place place;
    Peer peer([&](Peer &) {
        Remote y(place.path(), "y", Remote::to_pull);
        {
            FewFiles none;
            CHECK(refused([&] { y.pull(); }, {"no descriptor left"}));
        }
        CHECK(pulled_from(y) == numbers(8, 1));
        CHECK(pulled_from(y) == numbers(8, 2));
    });
    Line line(eight);
    Server server(place.path(), {}, {{"y", &line.y}});
    line.graph.run();
    for (int i = 0; i < 2; i++)
        CHECK(line.x.push(block_of(numbers(8, i))));
    peer.begin();
    CHECK_EQ(peer.end(), 0);
}

void no_descriptor_for_what_is_pushed()
{
    Served served;
    Remote x(served.path(), "x", Remote::to_push), y(served.path(), "y", Remote::to_pull);
    SharedMemory memory(eight.bytes());
    std::ranges::copy(numbers(8, 10), memory.as<int>().begin());
    std::promise<void> begins;
    std::thread pushes([&] {
        begins.get_future().wait();
        CHECK(x.push(std::move(memory)));
    });
    OtherThreads others;
    {
        FewFiles none;
        begins.set_value();
        /* Both wait: for the answer, and for a descriptor. */
        CHECK(others.until_asleep());
    }
    pushes.join();
    CHECK(pulled_from(y) == numbers(8, 11));
}

void an_end_with_a_block()
{
    Place place;
    Line line(eight);
    Server server(place.path(), {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    Remote y(place.path(), "y", Remote::to_pull);
    for (int i = 0; i < 3; i++)
        line.x.send({block_of(numbers(8, i)), i < 2});
    CHECK(pulled_from(y) == numbers(8, 1));
    CHECK(!y.pull());
    std::optional<Item> second = y.take();
    CHECK(second && second->end_of_stream && content<int>(second->block) == numbers(8, 2));
    CHECK(pulled_from(y) == numbers(8, 3));
}

/* Who waits for ever keeps no other one waiting, and can be told to stop. */
void several_threads_pull()
{
    Served served;
    Remote y(served.path(), "y", Remote::to_pull);
    std::stop_source source;
    std::atomic<bool> any{true};
    std::thread waits([&] { any = y.take({}, source.get_token()).has_value(); });
    for (int i = 0; i < 20; i++)
        CHECK(!y.pull(1ms));
    source.request_stop();
    waits.join();
    CHECK(!any);
    CHECK(!y.take({}, source.get_token()));
    served.line.x.push(block_of(numbers(8)));
    CHECK(pulled_from(y) == numbers(8, 1));
}

/* What was not in when it was to stop never comes. */
void several_threads_push()
{
    Place place;
    Line line(eight, 1);
    Server server(place.path(), {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    Remote x(place.path(), "x", Remote::to_push);
    /* One after the task, and one before it. */
    const int in = 2;
    for (int i = 0; i < in; i++)
        CHECK(push(x, numbers(8, i)));
    until([&] { return line.task.completed(); });
    std::stop_source source;
    std::atomic<bool> last{false};
    std::thread waits([&] {
        SharedMemory memory(eight.bytes());
        std::ranges::copy(numbers(8, in), memory.as<int>().begin());
        last = x.push(std::move(memory), {}, source.get_token());
    });
    for (int i = 0; i < 20; i++)
        CHECK(!push(x, numbers(8, in), 1ms));
    source.request_stop();
    waits.join();
    CHECK(!last);
    for (int i = 0; i < in; i++)
        CHECK(pulled<int>(line.y) == numbers(8, i + 1));
    line.x.push(block_of(numbers(8, 100)));
    CHECK(pulled<int>(line.y) == numbers(8, 101));
}

/* Until somebody serves there, as it begins to. */
void until_served(const std::string &path)
{
    until([&path] {
        try {
            socket_at(path, false);
            return true;
        } catch (const Error &) {
            return false;
        }
    });
}

/* As many as the socket takes wait for a process that does not answer, and then one more. */
void many_who_connect()
{
    Place place;
    UniqueFd listener = socket_at(place.path(), true);
    std::vector<UniqueFd> waiting;
    do
        waiting.push_back(socket_at(place.path(), false));
    while (waiting.back());
    CHECK(refused([&] { Remote late(place.path(), "x", Remote::to_push, Remote::on_host, 1ms); },
                  {place.path(), "has not answered in time"}));
    std::stop_source source;
    std::thread waits([&] {
        CHECK(refused([&] { Remote late(place.path(), "x", Remote::to_push, {}, {}, source.get_token()); },
                      {"has not answered in time"}));
    });
    source.request_stop();
    waits.join();
    /* It waits for room, and the process ends. */
    std::thread last([&] { CHECK(refused([&] { Remote late(place.path(), "x", Remote::to_push); }, {})); });
    CHECK(OtherThreads().until_asleep());
    listener.reset();
    last.join();
}

/* Nothing waits for it for ever, and when it goes on, nothing is lost or comes twice. */
void a_process_that_does_not_answer()
{
    GraphClock clock;
    Place place;
    Child child(fork());
    if (!child)
        begin_anew({"serves a line", place.path()});
    until_served(place.path());
    Remote x(place.path(), "x", Remote::to_push), y(place.path(), "y", Remote::to_pull);
    CHECK(push(x, numbers(8)));
    CHECK(pulled_from(y) == numbers(8, 1));
    child.stop();
    std::optional<Ticking> ticking(std::in_place, clock, 100ms);
    CHECK(!y.pull(1ms));
    CHECK(!y.pull(1ms));
    CHECK(refused([&] { push(x, numbers(8, 10), 1ms); }, {"has not answered in time"}));
    CHECK(!push(x, numbers(8, 20), 1ms));
    std::stop_source source;
    std::thread waits([&] { y.take({}, source.get_token()); });
    source.request_stop();
    waits.join();
    CHECK(refused([&] { Remote late(place.path(), "x", Remote::to_push, Remote::on_host, 1ms); },
                  {place.path(), "has not answered in time"}));
    ticking.reset();
    child.go_on();
    CHECK(pulled_from(y) == numbers(8, 11));
    CHECK(push(x, numbers(8, 30)));
    CHECK(pulled_from(y) == numbers(8, 31));
}

void serve_a_line(const std::string &path)
{
    Line line(Template::variable<int>(8));
    Server server(path, {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    for (;;)
        pause();
}

void signals_from_another_process()
{
    Served served;
    Remote x(served.path(), "x", Remote::to_push), y(served.path(), "y", Remote::to_pull);
    CHECK(x.send({nullptr, false, text("lost")}));
    CHECK(x.send({block_of(numbers(8)), true}));
    CHECK(x.send({block_of(numbers(8, 10)), false, text("spoiled")}));
    CHECK(x.push(block_of(numbers(8, 20))));
    CHECK(refused([&] { y.pull(); }, {"lost"}));
    CHECK(pulled_from(y) == numbers(8, 1));
    CHECK(!y.pull());
    std::optional<Item> spoiled = y.take();
    if (CHECK(spoiled && spoiled->error && !spoiled->end_of_stream)) {
        CHECK(*spoiled->error == "spoiled");
        CHECK(content<int>(spoiled->block) == numbers(8, 11));
    }
    CHECK(pulled_from(y) == numbers(8, 21));
    CHECK(refused([&] { x.send({}); }, {"neither a datablock nor a signal", "line.x"}));
}

void given_back()
{
    Line line(eight, 2);
    line.graph.run();
    for (int i = 0; i < 4; i++)
        CHECK(line.x.push(block_of(numbers(8, i))));
    std::optional<Item> first = line.y.take();
    if (CHECK(first))
        line.y.give_back(std::move(*first));
    for (int i = 0; i < 4; i++)
        CHECK(pulled<int>(line.y) == numbers(8, i + 1));
}

/* What it asked for goes to the next one. */
void killed_while_it_pulls()
{
    Place place;
    Peer peer([&](Peer &self) {
        Remote y(place.path(), "y", Remote::to_pull);
        self.say();
        y.pull();
    });
    Line line(eight);
    Server server(place.path(), {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    peer.begin();
    peer.until_it_says();
    CHECK(WIFSIGNALED(peer.end(SIGKILL)));
    line.x.push(block_of(numbers(8)));
    Remote y(place.path(), "y", Remote::to_pull);
    CHECK(pulled_from(y) == numbers(8, 1));
}

/* With what it asked for, or an error, on its way. */
void killed_before_it_reads()
{
    Served served;
    Packet request;
    request.head.kind = Packet::request;
    request.head.timeout = -1;
    for (int i = 0; i < 20; i++) {
        CHECK(served.line.x.push(block_of(numbers(8, i))));
        for (unsigned flags : {0u, unsigned{Packet::may_lend}, 0u}) {
            UniqueFd socket = connected(served.path(), Packet::hello_output, "y");
            request.head.flags = flags;
            CHECK(send_packet(socket.get(), request));
            pollfd sent = {socket.get(), POLLIN, 0};
            CHECK_EQ(poll(&sent, 1, -1), 1);
        }
        CHECK(pulled<int>(served.line.y) == numbers(8, i + 1));
    }
    /* What was read is not given to another. */
    CHECK(served.line.x.push(block_of(numbers(8))));
    {
        UniqueFd socket = connected(served.path(), Packet::hello_output, "y");
        CHECK(answer_to(socket, request).memory);
    }
    CHECK(!served.line.y.pull(20ms));
}

/* What was in stays, though it lies in the dead one's memory; the graph goes on. */
void killed_while_it_pushes()
{
    Place place;
    Peer peer([&](Peer &self) {
        Remote x(place.path(), "x", Remote::to_push);
        CHECK(push(x, numbers(8)));
        CHECK(push(x, numbers(8, 10)));
        self.say();
        while (push(x, numbers(8, 20)))
            ;
    });
    Line line(eight, 1);
    Server server(place.path(), {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    peer.begin();
    peer.until_it_says();
    CHECK(WIFSIGNALED(peer.end(SIGKILL)));
    Remote x(place.path(), "x", Remote::to_push), y(place.path(), "y", Remote::to_pull);
    CHECK(pulled_from(y) == numbers(8, 1));
    CHECK(pulled_from(y) == numbers(8, 11));
    CHECK(push(x, numbers(8, 30)));
    std::vector<int> last = pulled_from(y);
    while (last == numbers(8, 21))
        last = pulled_from(y);
    CHECK(last == numbers(8, 31));
}

/* Who is blocked in a pull, and in a push. */
void the_server_goes()
{
    Place place;
    Peer puller([&](Peer &self) {
        Remote y(place.path(), "y", Remote::to_pull);
        self.say();
        CHECK(refused([&] { y.pull(); }, {"the other process"}));
    });
    Peer pusher([&](Peer &self) {
        Remote x(place.path(), "x", Remote::to_push);
        self.say();
        CHECK(refused(
            [&] {
                for (;;)
                    CHECK(push(x, numbers(8)));
            },
            {"the other process"}));
    });
    {
        Line line(eight, 1), other(eight, 1);
        Server server(place.path(), {{"x", &line.x}}, {{"y", &other.y}});
        line.graph.run();
        other.graph.run();
        puller.begin();
        pusher.begin();
        puller.until_it_says();
        pusher.until_it_says();
    }
    CHECK_EQ(puller.end(), 0);
    CHECK_EQ(pusher.end(), 0);
    CHECK(!std::filesystem::exists(place.path()));
}

/* Where a thread of it cannot begin, nothing is left that keeps the next one from it. */
void cannot_be_served()
{
    Place place;
    Line line(eight);
    line.graph.run();
    {
        FewFiles none_but_the_socket(1);
        CHECK(refused([&] { Server server(place.path(), {}, {}); }, {"Too many open files"}));
    }
    CHECK(!std::filesystem::exists(place.path()));
}

/* Who goes does not take its name along. */
void served_by_another()
{
    Place place;
    Line line(eight);
    line.graph.run();
    std::optional<Server> old(std::in_place, place.path(), std::map<std::string, Input *>{},
                              std::map<std::string, Output *>{});
    CHECK(std::filesystem::remove(place.path()));
    Server server(place.path(), {{"x", &line.x}}, {});
    old.reset();
    CHECK(refused([&] { Remote z(place.path(), "z", Remote::to_push); }, {"does not serve z", "x (in)"}));
}

} // namespace

int remote_role(const std::string &role, const std::string &path)
{
    const std::map<std::string, void (*)(const std::string &)> roles = {{"serves a line", serve_a_line}};
    return play(role, [&] { roles.at(role)(path); });
}

Cases remote_cases()
{
    return {{"two processes push and pull", round_trip},
            {"tasks do not write what another process has pushed", in_place_on_the_host},
            {"errors and timeouts reach another process", errors_and_timeouts},
            {"what was not in in time is pushed again", pushed_again},
            {"no descriptor for what is pulled", no_descriptor_for_what_is_pulled},
            {"no descriptor for what is pushed", no_descriptor_for_what_is_pushed},
            {"an end that comes with a block, for another process", an_end_with_a_block},
            {"several threads pull by one connection", several_threads_pull},
            {"several threads push by one connection", several_threads_push},
            {"a process that does not answer", a_process_that_does_not_answer},
            {"more connect than a process has answered", many_who_connect},
            {"signals from another process", signals_from_another_process},
            {"what is given back is the first again", given_back},
            {"a process is killed while it pulls", killed_while_it_pulls},
            {"a process is killed before it reads what it has pulled", killed_before_it_reads},
            {"a process is killed while it pushes", killed_while_it_pushes},
            {"a graph is not served any more", the_server_goes},
            {"a server goes after another has come", served_by_another},
            {"a server that cannot begin leaves nothing", cannot_be_served}};
}

} // namespace test
