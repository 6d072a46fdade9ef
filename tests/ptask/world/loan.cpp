// SPDX-License-Identifier: MIT
/* Datablocks on a GPU that two processes use. */
#include "libptsched/ptask/ipc/device_sharing.hpp"
#include "tests/ptask/world/world_test.hpp"
#include "tests/vgpu/libcuda/link.h"
#include <ptsched/ptask/remote.hpp>

#include <map>
#include <sys/socket.h>

namespace test {

namespace {

namespace device = ptsched::device;

/* The end of a conversation in which both say when they have come somewhere. */
class Talk {
public:
    explicit Talk(UniqueFd &&socket) : socket_(std::move(socket)) {}
    void say() { CHECK_EQ(send(socket_.get(), "s", 1, MSG_NOSIGNAL), ssize_t{1}); }
    /* False if it has ended. */
    bool hear()
    {
        char said;
        return recv(socket_.get(), &said, 1, 0) == 1;
    }

private:
    UniqueFd socket_;
};

/* Another process that begins anew. */
class Other {
public:
    Other(const std::string &role, const std::string &path, const char *variable = nullptr, const char *value = nullptr)
    {
        int ends[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        UniqueFd there(ends[1]);
        talk_.emplace(UniqueFd(ends[0]));
        if (child_.emplace(fork()))
            return;
        const std::string socket = std::to_string(dup(there.get()));
        if (variable)
            setenv(variable, value, 1);
        begin_anew({role, path, socket});
    }
    Other(const Other &) = delete;
    Other &operator=(const Other &) = delete;

    Talk &talk() { return *talk_; }
    int end(int signal = 0) { return child_->end(signal); }

private:
    std::optional<Talk> talk_;
    std::optional<Child> child_;
};

/* Gives on what it reads, on a GPU, unless there is a 0. */
struct Reader {
    explicit Reader(Mode mode = Mode::data_aware)
        : graph({.mode = mode}), task(graph.cuda("reader", {ptask_kernels(), "select_set"},
                                                 {in("x", eight), out("y", eight), constant("n", 8u)})),
          x(graph.input(task["x"])), y(graph.output(task["y"]))
    {
        graph.run();
    }

    Graph graph;
    Task &task;
    Input &x;
    Output &y;
};

/* Blocks that were brought to devices so far. */
std::uint64_t moved(const Graph &graph)
{
    const DeviceCounters sum = sum_of(graph);
    return sum.blocks_uploaded + sum.blocks_migrated;
}

/* How long this process has had kernels, or copies, on the virtual GPUs, in ns. */
std::uint64_t busy_ns(std::size_t runlist)
{
    auto link = vgpu::open_link();
    vgpu_info info{};
    std::uint64_t ns = 0;
    if (!CHECK(link && !link->info(info)))
        return 0;
    for (std::uint32_t gpu = 0; gpu < info.devices; gpu++) {
        vgpu_device_stats stats{};
        std::vector<vgpu_owner_stats> owners;
        stats.device = gpu;
        CHECK_EQ(link->stats(stats, owners), 0);
        for (const vgpu_owner_stats &owner : owners)
            if (owner.pid == static_cast<std::uint32_t>(getpid()))
                ns += owner.busy_ns[runlist];
    }
    return ns;
}

std::uint64_t computing()
{
    return busy_ns(0);
}

std::uint64_t copying()
{
    return busy_ns(1);
}

bool is_on_host(const DatablockPtr &block)
{
    return CHECK(block) && !block->missing(device::host());
}

void until_nothing_is_lent()
{
    until([] { return !count_lent(); });
}

std::size_t open_files()
{
    auto all = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/* What the other processes do. */

/* All at once, so that what the graph does meanwhile shows. */
void pull_twelve(Remote &y, bool on_host)
{
    std::vector<DatablockPtr> blocks;
    for (int i = 0; i < 12; i++) {
        blocks.push_back(y.pull());
        CHECK_EQ(is_on_host(blocks.back()), on_host);
    }
    for (int i = 0; i < 12; i++)
        CHECK(content<int>(blocks[static_cast<std::size_t>(i)]) == numbers(8, i + 1));
}

void pulls(const std::string &path, Talk &)
{
    DatablockPtr last;
    {
        Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
        pull_twelve(y, false);
        last = y.pull();
    }
    /* It needs no connection. */
    CHECK(content<int>(last) == numbers(8, 13));
}

void pulls_from_elsewhere(const std::string &path, Talk &)
{
    Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
    pull_twelve(y, true);
}

/* To the end of the stream, with some of the blocks at hand, in two threads. */
void streams(const std::string &path, Talk &)
{
    auto read = [&] {
        Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
        std::vector<DatablockPtr> window(5);
        for (std::size_t i = 0;; i++) {
            DatablockPtr &block = window[i % window.size()];
            if (block) {
                const std::vector<int> values = content<int>(block);
                CHECK(values == numbers(8, values.at(0)));
            }
            std::optional<Item> item = y.take();
            if (!CHECK(item) || item->end_of_stream)
                break;
            block = item->block;
        }
    };
    std::thread second(read);
    read();
    second.join();
}

/* More than is lent at a time. */
void hoards(const std::string &path, Talk &)
{
    Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
    std::vector<DatablockPtr> blocks;
    std::size_t borrowed = 0;
    for (int i = 0; i < 300; i++) {
        blocks.push_back(y.pull());
        borrowed += !is_on_host(blocks.back());
    }
    CHECK_EQ(borrowed, std::size_t{256});
    for (int i = 0; i < 300; i++)
        CHECK(content<int>(blocks[static_cast<std::size_t>(i)]) == numbers(8, i + 1));
}

void uses(const std::string &path, Talk &)
{
    Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
    Reader reader;
    DatablockPtr block = y.pull();
    CHECK(reader.x.push(block));
    DatablockPtr result = reader.y.pull();
    until([&] { return !CHECK(result) || reader.task.completed(); });
    CHECK_EQ(copying(), std::uint64_t{0});
    CHECK_EQ(moved(reader.graph), std::uint64_t{0});
    CHECK(!is_on_host(block));
    CHECK(content<int>(result) == numbers(8, 1));
    CHECK(copying() > 0);
    /* On the other GPU, too. */
    Reader both(Mode::first_available);
    for (int i = 0; i < 2; i++) {
        CHECK(both.x.push(block));
        CHECK(pulled<int>(both.y) == numbers(8, 1));
    }
    CHECK_EQ(moved(both.graph), std::uint64_t{1});
    /* One that writes its block writes a copy. */
    Line line(eight);
    line.graph.run();
    block = y.pull();
    CHECK(line.x.push(DatablockPtr(block)));
    CHECK(pulled<int>(line.y) == numbers(8, 3));
    CHECK(content<int>(block) == numbers(8, 2));
    block = y.pull();
    CHECK(line.x.push(std::move(block)));
    CHECK(pulled<int>(line.y) == numbers(8, 4));
}

void hold_one(Remote &y, Talk &talk)
{
    DatablockPtr block = y.pull();
    CHECK(!is_on_host(block));
    talk.say();
    talk.hear();
    CHECK(content<int>(block) == numbers(8, 1));
}

void holds(const std::string &path, Talk &talk)
{
    Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
    hold_one(y, talk);
}

/* Without the end, who lends it would have it back at once. */
void lacks(const std::string &path, Talk &talk)
{
    Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
    {
        FewFiles none;
        CHECK(refused([&] { y.pull(); }, {"no descriptor left"}));
    }
    hold_one(y, talk);
}

void arrives(const std::string &path, Talk &talk)
{
    Remote y(path, "y", Remote::to_pull, Remote::where_it_is);
    CHECK(!is_on_host(y.pull()));
    talk.say();
}

void pushes(const std::string &path, Talk &talk)
{
    Remote x(path, "x", Remote::to_push);
    Line line(eight);
    line.graph.run();
    std::vector<DatablockPtr> blocks;
    for (int i = 0; i < 12; i++) {
        CHECK(line.x.push(block_of(numbers(8, i))));
        blocks.push_back(line.y.pull());
        CHECK(x.push(blocks.back()));
        CHECK(!is_on_host(blocks.back()));
    }
    talk.hear();
    /* The other graph has changed what it was given, and not this. */
    for (int i = 0; i < 12; i++)
        CHECK(content<int>(blocks[static_cast<std::size_t>(i)]) == numbers(8, i + 1));
    CHECK(x.end_stream());
    until_nothing_is_lent();
}

/* Until it is told to end, or killed. */
void serves(const std::string &path, Talk &talk)
{
    Line line(eight);
    Server server(path, {{"x", &line.x}}, {{"y", &line.y}});
    line.graph.run();
    talk.say();
    talk.hear();
}

/* A request that pushes a block of its own. */
Packet lent(Line &line, DatablockPtr &block)
{
    Packet packet;
    CHECK(line.x.push(block_of(numbers(8))));
    block = line.y.pull();
    packet.head.kind = Packet::request;
    packet.head.flags = Packet::has_block;
    packet.head.timeout = -1;
    CHECK(lend(block, packet));
    return packet;
}

/* Before anything was lent. */
void lends_later(const std::string &, Talk &)
{
    Line line(eight);
    line.graph.run();
    CHECK(line.x.push(block_of(numbers(8))));
    DatablockPtr block = line.y.pull();
    /* The driver has its descriptor. */
    CHECK(block->share());
    {
        Packet packet;
        FewFiles none;
        CHECK(!lend(block, packet));
    }
    lent(line, block);
    until_nothing_is_lent();
}

/* Packets that are right but for one thing. */
void lies(const std::string &path, Talk &)
{
    constexpr std::uint32_t no = Packet::refused | Packet::not_here;
    Line line(eight);
    line.graph.run();
    DatablockPtr block;
    Packet packet = lent(line, block);
    const Packet::Head right = packet.head;
    UniqueFd socket = connected(path, Packet::hello_input, "x");
    auto refuses = [&](const std::function<void(Packet::Head &)> &change, std::uint32_t flags, const char *words) {
        packet.head = right;
        change(packet.head);
        return says(answer_to(socket, packet), flags, words);
    };
    CHECK(refuses([](auto &head) { head.handle.opaque.fill('x'); }, no, "cannot be mapped"));
    CHECK(refuses([](auto &head) { head.handle.opaque.fill(0); }, no, "cannot be mapped"));
    CHECK(refuses([](auto &head) { head.handle.offset = 1 << 20; }, no, "not 32 from 1048576 on"));
    CHECK(refuses([](auto &head) { head.handle.offset = UINT64_MAX - 255; }, no, "not 32 from"));
    CHECK(refuses([](auto &head) { head.handle.offset = 256; }, no, "not 32 from 256 on"));
    CHECK(refuses([](auto &head) { head.handle.offset = 1; }, no, "not at a multiple of 256"));
    CHECK(refuses([](auto &head) { head.bytes = 64; }, Packet::refused, "64 bytes does not fit"));
    CHECK(refuses([](auto &head) { std::fill_n(head.gpu, sizeof(head.gpu), 'g'); }, no, "which is not here"));
    CHECK(refuses([](auto &head) { head.gpu[0] = 0; }, no, "which is not here"));
    /* As it was, and once more with an end of a loan that is none. */
    CHECK(refuses([](auto &) {}, Packet::done, ""));
    packet.memory.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    CHECK(refuses([](auto &) {}, Packet::done, ""));
    packet.memory.reset();
    CHECK(refuses([](auto &) {}, Packet::done, ""));
    until_nothing_is_lent();
    socket = connected(path, Packet::hello_output, "y");
    Packet fetch;
    fetch.head.kind = Packet::fetch;
    CHECK(says(answer_to(socket, fetch), Packet::refused, "no datablock is lent"));
}

/* What this process does with them. */

void pull_where_it_is()
{
    Served served;
    Other other("pulls", served.path());
    for (int i = 0; i < 13; i++)
        CHECK(served.line.x.push(block_of(numbers(8, i))));
    CHECK_EQ(other.end(), 0);
    until_nothing_is_lent();
}

void many_pull()
{
    Served served;
    std::optional<Other> others[3];
    for (auto &other : others)
        other.emplace("streams", served.path());
    for (int i = 0; i < 300; i++)
        CHECK(served.line.x.push(block_of(numbers(8, i))));
    for (std::size_t i = 0; i < 2 * std::size(others); i++)
        CHECK(served.line.x.end_stream());
    for (auto &other : others)
        CHECK_EQ(other->end(), 0);
    until_nothing_is_lent();
}

/* Before it has what it asked for, or before it has looked at it. */
void who_leaves_early()
{
    Served served;
    for (int i = 0; i < 50; i++) {
        UniqueFd socket = connected(served.path(), Packet::hello_output, "y");
        Packet request;
        request.head.kind = Packet::request;
        request.head.flags = Packet::may_lend;
        request.head.timeout = -1;
        CHECK(send_packet(socket.get(), request));
        CHECK(served.line.x.push(block_of(numbers(8, i))));
        if (i % 2)
            CHECK(packet_from(socket).head.flags & Packet::is_lent);
        /* The next one may get the one of this. */
    }
    until_nothing_is_lent();
}

void more_than_is_lent()
{
    Served served;
    Other other("hoards", served.path());
    for (int i = 0; i < 300; i++)
        CHECK(served.line.x.push(block_of(numbers(8, i))));
    CHECK_EQ(other.end(), 0);
    until_nothing_is_lent();
}

/* And not when the kernel is launched that writes it, as within a process. */
void when_it_is_written()
{
    constexpr unsigned long long ns = 200000000;
    const auto one = Template::of<unsigned>(1);
    Graph graph;
    Task &task =
        graph.cuda("slow", {kernels(), "spin"}, {inout("out", one), constant("ns", ns), constant("steps", 1u)});
    Input &x = graph.input(task["out"]);
    Output &y = graph.output(task["out"]);
    Place place;
    Server server(place.path(), {}, {{"y", &y}});
    graph.run();
    Other other("arrives", place.path());
    const std::uint64_t before = computing();
    CHECK(x.push_value(0u));
    CHECK(other.talk().hear());
    CHECK(computing() - before >= ns);
    CHECK_EQ(other.end(), 0);
    until_nothing_is_lent();
}

/* Who lends it keeps it until it can be sent. */
void no_memory_to_fetch()
{
    Served served;
    UniqueFd socket = connected(served.path(), Packet::hello_output, "y");
    Packet request, fetch;
    request.head.kind = Packet::request;
    request.head.flags = Packet::may_lend;
    request.head.timeout = -1;
    fetch.head.kind = Packet::fetch;
    CHECK(served.line.x.push(block_of(numbers(8))));
    const std::size_t files = open_files();
    const Packet lent = answer_to(socket, request);
    CHECK(lent.head.flags & Packet::is_lent);
    /* Until the server has closed what it sent, so that no descriptor comes to be free then: both ends are left. */
    until([&] { return open_files() == files + 2; });
    {
        FewFiles none;
        CHECK(says(answer_to(socket, fetch), Packet::refused, "no shared memory"));
    }
    const Packet fetched = answer_to(socket, fetch);
    if (CHECK(fetched.memory))
        CHECK(content<int>(map_shared(fetched.memory, eight.bytes())) == numbers(8, 1));
}

/* And who has borrowed it asks for that again, and not for the next one. */
void fetched_again()
{
    Place place;
    UniqueFd listener = socket_at(place.path(), true);
    auto serve = [&] {
        pollfd waited = {listener.get(), POLLIN, 0};
        poll(&waited, 1, -1);
        UniqueFd socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        constexpr std::uint32_t block = Packet::done | Packet::has_block;
        const std::pair<Packet::Kind, std::uint32_t> talk[] = {{Packet::hello_output, Packet::done},
                                                               {Packet::request, block | Packet::is_lent},
                                                               {Packet::fetch, Packet::refused},
                                                               {Packet::fetch, block}};
        for (const auto &[kind, flags] : talk) {
            CHECK_EQ(packet_from(socket).head.kind, std::uint32_t{kind});
            Packet answer;
            answer.head.kind = Packet::answer;
            answer.head.flags = flags;
            answer.text = "not now";
            CHECK(send_packet(socket.get(), answer));
        }
    };
    std::thread server(serve);
    Remote y(place.path(), "y", Remote::to_pull, Remote::where_it_is);
    CHECK(refused([&] { y.pull(); }, {"not now"}));
    DatablockPtr none = y.pull();
    CHECK(none && !none->bytes());
    server.join();
}

void another_graph()
{
    Served served;
    Other other("uses", served.path());
    for (int i = 0; i < 3; i++)
        CHECK(served.line.x.push(block_of(numbers(8, i))));
    CHECK_EQ(other.end(), 0);
    until_nothing_is_lent();
}

void push_where_it_is()
{
    Served served;
    Other other("pushes", served.path());
    for (int i = 0; i < 12; i++)
        CHECK(pulled<int>(served.line.y) == numbers(8, i + 2));
    CHECK_EQ(sum_of(served.line.graph).blocks_uploaded, std::uint64_t{0});
    other.talk().say();
    CHECK_EQ(other.end(), 0);
}

/* It has one when it says so. */
void lend_one(Served &served, Other &other)
{
    CHECK(served.line.x.push(block_of(numbers(8))));
    CHECK(other.talk().hear());
    CHECK_EQ(count_lent(), std::size_t{1});
}

void borrower_killed()
{
    Served served;
    Other other("holds", served.path());
    lend_one(served, other);
    CHECK(WIFSIGNALED(other.end(SIGKILL)));
    until_nothing_is_lent();
    CHECK(served.line.x.push(block_of(numbers(8, 5))));
    CHECK(pulled<int>(served.line.y) == numbers(8, 6));
}

void no_descriptor()
{
    Served served;
    Other other("lacks", served.path());
    lend_one(served, other);
    other.talk().say();
    CHECK_EQ(other.end(), 0);
    until_nothing_is_lent();
}

void no_descriptor_at_first()
{
    Place place;
    Other other("lends later", place.path());
    CHECK_EQ(other.end(), 0);
}

void lender_killed()
{
    Place place;
    const std::string path = place.path();
    Other other("serves", path);
    CHECK(other.talk().hear());
    Remote x(path, "x", Remote::to_push), y(path, "y", Remote::to_pull, Remote::where_it_is);
    Line line(eight);
    line.graph.run();
    CHECK(line.x.push(block_of(numbers(8))));
    CHECK(x.push(line.y.pull()));
    DatablockPtr block = y.pull();
    CHECK(!is_on_host(block));
    CHECK(WIFSIGNALED(other.end(SIGKILL)));
    CHECK(content<int>(block) == numbers(8, 2));
    CHECK(refused([&] { y.pull(); }, {"the other process"}));
    until_nothing_is_lent();
}

void the_graph_goes_first()
{
    std::optional<Served> served(std::in_place);
    Other other("holds", served->path());
    CHECK(served->line.x.push(block_of(numbers(8))));
    CHECK(other.talk().hear());
    served.reset();
    /* Takes the place of what would have been given back. */
    Line line(eight);
    line.graph.run();
    for (int i = 0; i < 10; i++) {
        CHECK(line.x.push(block_of(numbers(8, 100))));
        CHECK(pulled<int>(line.y) == numbers(8, 101));
    }
    other.talk().say();
    CHECK_EQ(other.end(), 0);
    until_nothing_is_lent();
}

void without_sharing()
{
    for (const auto &[variable, value] : {std::pair{"PTSCHED_VGPU_IPC", "0"}, {"PTSCHED_VGPU_SOCKET", "/nowhere"}}) {
        Served served;
        Other other("pulls from elsewhere", served.path(), variable, value);
        for (int i = 0; i < 12; i++)
            CHECK(served.line.x.push(block_of(numbers(8, i))));
        CHECK_EQ(other.end(), 0);
        until_nothing_is_lent();
    }
    Place place;
    const std::string path = place.path();
    Other other("serves", path, "PTSCHED_VGPU_IPC", "0");
    CHECK(other.talk().hear());
    {
        Remote x(path, "x", Remote::to_push), y(path, "y", Remote::to_pull, Remote::where_it_is);
        Line line(eight);
        line.graph.run();
        for (int i = 0; i < 4; i++) {
            CHECK(line.x.push(block_of(numbers(8, i))));
            CHECK(x.push(line.y.pull()));
            DatablockPtr block = y.pull();
            CHECK(is_on_host(block));
            CHECK(content<int>(block) == numbers(8, i + 2));
        }
    }
    other.talk().say();
    CHECK_EQ(other.end(), 0);
    until_nothing_is_lent();
}

void who_lies()
{
    Served served;
    Other other("lies", served.path());
    CHECK_EQ(other.end(), 0);
    for (int i = 0; i < 3; i++)
        CHECK(pulled<int>(served.line.y) == numbers(8, 2));
    CHECK(served.line.x.push(block_of(numbers(8, 5))));
    CHECK(pulled<int>(served.line.y) == numbers(8, 6));
}

/* Blocks on the host are as they were; nothing is left of the cases before this. */
void what_is_on_the_host()
{
    Served served;
    const std::size_t files = open_files();
    {
        Remote x(served.path(), "x", Remote::to_push), y(served.path(), "y", Remote::to_pull);
        CHECK(x.push(block_of(numbers(8))));
        CHECK(content<int>(y.pull()) == numbers(8, 1));
        CHECK(refused([&] { x.push(block_of(numbers(7))); }, {"28 bytes", "line.x"}));
        /* Of a task on the host. */
        Place place;
        Line on_host(Template::variable<int>(8));
        Server server(place.path(), {}, {{"y", &on_host.y}});
        on_host.graph.run();
        Remote z(place.path(), "y", Remote::to_pull, Remote::where_it_is);
        CHECK(on_host.x.push(block_of(numbers(8))));
        CHECK(content<int>(z.pull()) == numbers(8, 1));
        CHECK(on_host.x.push(block_of(numbers(0))));
        CHECK_EQ(z.pull()->bytes(), std::size_t{0});
    }
    CHECK_EQ(count_lent(), std::size_t{0});
    until([&] { return open_files() == files; });
}

} // namespace

int loan_role(const std::string &role, const std::string &path, int socket)
{
    const std::map<std::string, void (*)(const std::string &, Talk &)> roles = {
        {"pulls", pulls},     {"pulls from elsewhere", pulls_from_elsewhere},
        {"uses", uses},       {"holds", holds},
        {"arrives", arrives}, {"pushes", pushes},
        {"serves", serves},   {"lies", lies},
        {"streams", streams}, {"hoards", hoards},
        {"lacks", lacks},     {"lends later", lends_later}};
    Talk talk{UniqueFd(socket)};
    return play(role, [&] { roles.at(role)(path, talk); });
}

Cases loan_cases()
{
    return {{"what is pulled stays on the GPU", pull_where_it_is},
            {"several processes pull at once", many_pull},
            {"who leaves early is forgotten", who_leaves_early},
            {"what is more than is lent is passed as memory", more_than_is_lent},
            {"what is pulled has been written", when_it_is_written},
            {"what is lent and cannot be sent is kept", no_memory_to_fetch},
            {"what is lent and was not sent is fetched again", fetched_again},
            {"a graph of another process uses it there", another_graph},
            {"what is pushed stays on the GPU", push_where_it_is},
            {"who has borrowed is killed", borrower_killed},
            {"no descriptor for what is lent", no_descriptor},
            {"no descriptor for the first that would be lent", no_descriptor_at_first},
            {"who has lent is killed", lender_killed},
            {"what is lent outlives its graph", the_graph_goes_first},
            {"what cannot be shared is passed as memory", without_sharing},
            {"who lies about what is lent is refused", who_lies},
            {"what is on the host is passed as memory", what_is_on_the_host}};
}

} // namespace test
