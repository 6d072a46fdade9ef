// SPDX-License-Identifier: MIT
/* Channels bound to files, pipes and sockets. */
#include "tests/ptask/world/world_test.hpp"
#include <ptsched/ptask/stream.hpp>

#include <atomic>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace test {

namespace {

const auto at_most_eight = Template::variable<int>(8);

/* Waits until a pipe holds as much. */
void until_it_holds(int pipe, std::size_t bytes)
{
    int held = -1;
    until([&] { return ioctl(pipe, FIONREAD, &held) != 0 || static_cast<std::size_t>(held) == bytes; });
    CHECK_EQ(static_cast<std::size_t>(held), bytes);
}

/* Whether nobody can write to a pipe any more. */
bool has_ended(const UniqueFd &pipe)
{
    pollfd asked{pipe.get(), 0, 0};
    return poll(&asked, 1, 0) == 1 && (asked.revents & POLLHUP);
}

std::size_t capacity_of(int pipe)
{
    return static_cast<std::size_t>(fcntl(pipe, F_GETPIPE_SZ));
}

UniqueFd temporary_file()
{
    std::string name = "/tmp/ptask-world-XXXXXX";
    UniqueFd file(mkstemp(name.data()));
    CHECK(file);
    unlink(name.c_str());
    return file;
}

void through_files()
{
    UniqueFd from = temporary_file(), to = temporary_file();
    CHECK(write_all(from.get(), numbers(8 * 100)));
    CHECK_EQ(lseek(from.get(), 0, SEEK_SET), off_t{0});
    Line line(eight, 2);
    StreamReader reader(line.x, from.release());
    StreamWriter writer(line.y, dup(to.get()));
    line.graph.run();
    reader.wait();
    writer.wait();
    CHECK_EQ(lseek(to.get(), 0, SEEK_SET), off_t{0});
    CHECK(read_all(to.get()) == numbers(8 * 100, 1));
    line.graph.stop();
    CHECK_EQ(line.task.completed() - line.task.skipped(), std::uint64_t{100});
}

/* What is left at the end is a block of its own. */
void through_pipes()
{
    Pipe in, out;
    Line line(at_most_eight, 2);
    StreamReader reader(line.x, in.from.release());
    StreamWriter writer(line.y, out.to.release());
    line.graph.run();
    CHECK(write_all(in.to.get(), numbers(8 * 5 + 3)));
    in.to.reset();
    CHECK(read_all(out.from.get()) == numbers(8 * 5 + 3, 1));
    writer.wait();
    line.graph.stop();
    CHECK_EQ(line.task.completed() - line.task.skipped(), std::uint64_t{6});
}

void through_a_fifo()
{
    std::string folder = "/tmp/ptask-world-XXXXXX";
    CHECK(mkdtemp(folder.data()));
    std::string name = folder + "/fifo";
    CHECK_EQ(mkfifo(name.c_str(), 0600), 0);
    UniqueFd from(open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    UniqueFd to(open(name.c_str(), O_WRONLY | O_CLOEXEC));
    Line line(eight);
    StreamReader reader(line.x, from.release());
    line.graph.run();
    CHECK(write_all(to.get(), numbers(8)));
    to.reset();
    CHECK(pulled<int>(line.y) == numbers(8, 1));
    CHECK(!line.y.pull());
    unlink(name.c_str());
    rmdir(folder.c_str());
}

/* In both directions of one. */
void through_a_socket()
{
    int ends[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    UniqueFd far(ends[0]), near(ends[1]);
    Line line(eight);
    StreamReader reader(line.x, dup(near.get()));
    StreamWriter writer(line.y, near.release());
    line.graph.run();
    CHECK(write_all(far.get(), numbers(8 * 3)));
    CHECK_EQ(shutdown(far.get(), SHUT_WR), 0);
    reader.wait();
    writer.wait();
    std::vector<int> got(8 * 3);
    CHECK_EQ(recv(far.get(), got.data(), bytes_of(got), MSG_WAITALL), static_cast<ssize_t>(bytes_of(got)));
    CHECK(got == numbers(8 * 3, 1));
}

void a_block_cut_short()
{
    Pipe in;
    Line line(eight);
    StreamReader reader(line.x, in.from.release());
    line.graph.run();
    CHECK(write_all(in.to.get(), numbers(8)));
    CHECK_EQ(write(in.to.get(), "abc", 3), ssize_t{3});
    in.to.reset();
    CHECK(pulled<int>(line.y) == numbers(8, 1));
    CHECK(refused([&] { line.y.pull(); }, {"line.x", "3 of the 32 bytes of a block"}));
    std::optional<Item> end = line.y.take();
    CHECK(end && end->end_of_stream && !end->block && !end->error);
    CHECK(refused([&] { reader.wait(); }, {"line.x", "3 of the 32 bytes"}));
}

/* Whole records before it are a block; the writer at the other end says it, too. */
void a_record_cut_short()
{
    Pipe in, out;
    Line line(at_most_eight);
    StreamReader reader(line.x, in.from.release());
    StreamWriter writer(line.y, out.to.release());
    line.graph.run();
    CHECK(write_all(in.to.get(), numbers(8 + 2)));
    CHECK_EQ(write(in.to.get(), "a", 1), ssize_t{1});
    in.to.reset();
    CHECK(refused([&] { writer.wait(); }, {"line.x", "1 of the 4 bytes of a record"}));
    CHECK(has_ended(out.from));
    std::vector<int> got(8 + 2);
    CHECK_EQ(read(out.from.get(), got.data(), bytes_of(got)), static_cast<ssize_t>(bytes_of(got)));
    CHECK(got == numbers(8 + 2, 1));
}

void what_cannot_be_read()
{
    Line line(eight);
    StreamReader reader(line.x, open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    line.graph.run();
    CHECK(refused([&] { line.y.pull(); }, {"line.x", "cannot be read", "directory"}));
    CHECK(!line.y.pull());
    CHECK(refused([&] { reader.wait(); }, {"line.x", "cannot be read"}));
}

void what_cannot_be_opened()
{
    Line line(eight);
    StreamReader reader(line.x, open("/no/such/file", O_RDONLY | O_CLOEXEC));
    line.graph.run();
    std::optional<Item> error = line.y.take(), end = line.y.take();
    CHECK(error && error->error && error->error->find(strerror(EBADF)) != std::string::npos);
    CHECK(end && end->end_of_stream && !end->error);
    /* The reader would wait for ever, too. */
    if (error && end)
        CHECK(refused([&] { reader.wait(); }, {"line.x", "cannot be read", strerror(EBADF)}));
}

/* Who pulls learns it, too. */
void no_memory_for_a_block()
{
    UniqueFd from = temporary_file();
    Line line(Template::variable<int>(std::size_t{1} << 43));
    StreamReader reader(line.x, from.release());
    line.graph.run();
    std::optional<Item> error = line.y.take(), end = line.y.take();
    CHECK(error && error->error && has(*error->error, "line.x cannot be read"));
    CHECK(end && end->end_of_stream && !end->error);
    CHECK(refused([&] { reader.wait(); }, {"line.x", "cannot be read"}));
}

void nobody_reads_any_more()
{
    Pipe out;
    Line line(eight);
    StreamWriter writer(line.y, out.to.release());
    out.from.reset();
    line.graph.run();
    CHECK(line.x.push(block_of(numbers(8))));
    CHECK(refused([&] { writer.wait(); }, {"line.x", "cannot be written", "Broken pipe"}));
}

/* A block is 4 KiB, and what nobody reads holds everything up. */
void back_pressure()
{
    constexpr std::size_t records = 1024, blocks = 400;
    Pipe in, out;
    Line line(Template::of<int>(records), 1);
    StreamReader reader(line.x, in.from.release());
    StreamWriter writer(line.y, out.to.release());
    line.graph.run();
    std::atomic<bool> written{false};
    std::thread feeder([&, to = std::move(in.to)] { written = write_all(to.get(), numbers(records * blocks)); });
    const std::size_t room = capacity_of(out.from.get());
    until_it_holds(out.from.get(), room);
    CHECK(!written);
    /* In the pipe, in the writer's hands, and in the channel. */
    CHECK(line.task.completed() <= room / (records * sizeof(int)) + 2);
    CHECK(read_all(out.from.get()) == numbers(records * blocks, 1));
    feeder.join();
    CHECK(written);
    writer.wait();
}

void stops_while_it_reads()
{
    Pipe in;
    Line line(eight);
    line.graph.run();
    {
        StreamReader reader(line.x, dup(in.from.get()));
        CHECK_EQ(write(in.to.get(), "abc", 3), ssize_t{3});
        until_it_holds(in.from.get(), 0);
    }
    CHECK(!line.y.take(0ns));
}

/* One block is where nobody pulls it, one before the task, one in the reader's hands. */
void stops_while_the_graph_is_full()
{
    Pipe in;
    Line line(eight, 1);
    line.graph.run();
    StreamReader reader(line.x, dup(in.from.get()));
    CHECK(write_all(in.to.get(), numbers(8 * 5)));
    until_it_holds(in.from.get(), 2 * eight.bytes());
    reader.request_stop();
    reader.wait();
    CHECK(pulled<int>(line.y) == numbers(8, 1));
    CHECK(pulled<int>(line.y) == numbers(8, 9));
}

void stops_while_it_writes()
{
    constexpr std::size_t records = 1 << 20;
    Pipe out;
    Line line(Template::of<int>(records));
    line.graph.run();
    StreamWriter writer(line.y, dup(out.to.get()));
    CHECK(line.x.push(block_of(numbers(records))));
    until_it_holds(out.from.get(), capacity_of(out.from.get()));
    writer.request_stop();
    writer.wait();
    StreamWriter idle(line.y, dup(out.to.get()));
}

void a_graph_that_fails()
{
    Pipe in, out;
    Graph graph;
    Task &task = graph.host("bad", [](const Arguments &) { throw std::runtime_error("no luck"); }, {inout("x", eight)});
    StreamReader reader(graph.input(task["x"], 1), in.from.release());
    StreamWriter writer(graph.output(task["x"]), out.to.release());
    graph.run();
    CHECK(write_all(in.to.get(), numbers(8)));
    CHECK(refused([&] { writer.wait(); }, {"bad", "no luck"}));
    CHECK(has_ended(out.from));
    CHECK(write_all(in.to.get(), numbers(8)));
    CHECK(refused([&] { reader.wait(); }, {"bad", "no luck"}));
}

void a_graph_that_is_stopped()
{
    Pipe out;
    Line line(eight);
    StreamWriter writer(line.y, out.to.release());
    line.graph.run();
    line.graph.stop();
    writer.wait();
    CHECK(read_all(out.from.get()).empty());
}

void no_borders()
{
    Graph graph;
    Task &task = graph.host("any", [](const Arguments &) {}, {in("x", Template::opaque())});
    Input &x = graph.input(task["x"]);
    CHECK(refused([&] { StreamReader reader(x, -1); }, {"any.x", "borders", "fixed or variable"}));
}

} // namespace

Cases stream_cases()
{
    return {{"from a file to a file", through_files},
            {"from a pipe to a pipe", through_pipes},
            {"from a FIFO", through_a_fifo},
            {"both ways through a socket", through_a_socket},
            {"a block cut short by the end of a file", a_block_cut_short},
            {"a record cut short by the end of a file", a_record_cut_short},
            {"what cannot be read", what_cannot_be_read},
            {"what could not be opened", what_cannot_be_opened},
            {"a block that there is no memory for", no_memory_for_a_block},
            {"a pipe that nobody reads any more", nobody_reads_any_more},
            {"a full pipe holds the graph and its source up", back_pressure},
            {"a reader stops while it reads", stops_while_it_reads},
            {"a reader stops while the graph is full", stops_while_the_graph_is_full},
            {"a writer stops while it writes", stops_while_it_writes},
            {"a graph that fails ends its readers and writers", a_graph_that_fails},
            {"a graph that is stopped ends its writers", a_graph_that_is_stopped},
            {"blocks without borders are refused", no_borders}};
}

} // namespace test
