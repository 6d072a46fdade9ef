// SPDX-License-Identifier: MIT
/*
 * A graph that other processes use: one serves it at a socket, others push blocks there and pull results. Blocks are
 * memory that is passed, not copied.
 *
 *	build/samples/serve /tmp/squares &
 *	build/samples/serve --client /tmp/squares
 *
 * The server ends at SIGINT or SIGTERM. Results come in the order in which blocks were pushed, and each goes to whoever
 * pulls first: this is for one client at a time.
 */
#include "example.hpp"
#include <ptsched/ptask/graph.hpp>
#include <ptsched/ptask/remote.hpp>
#include <ptsched/ptask/server.hpp>

#include <csignal>
#include <numeric>

using namespace ptsched::ptask;
using namespace std::chrono_literals;

namespace {

constexpr unsigned n = 8;
const auto numbers = Template::of<int>(n);

void square(const Arguments &ports)
{
    int *x = static_cast<int *>(ports[0]);
    for (unsigned i = 0; i < n; i++)
        x[i] *= x[i];
}

void serve(char **arguments)
{
    /* Threads begin with the signals of who makes them, so that these reach only sigwait(). */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);

    Graph graph;
    Task &task = graph.host("square", square, {inout("x", numbers)});
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    Server server(arguments[0], {{"x", &x}}, {{"y", &y}});
    graph.run();
    std::printf("serving x and y at %s\n", arguments[0]);
    std::fflush(stdout);
    int signal = 0;
    sigwait(&ends, &signal);
}

void ask(char **arguments)
{
    Remote x(arguments[0], "x", Remote::to_push), y(arguments[0], "y", Remote::to_pull);
    if (!x.form().fits(numbers))
        throw Error("x takes " + x.form().describe() + ", not " + numbers.describe());
    SharedMemory block(numbers.bytes());
    std::iota(block.as<int>().begin(), block.as<int>().end(), 1);
    if (!x.push(std::move(block), 10s))
        throw Error("there was no room in x for 10 s");
    DatablockPtr squares = y.pull(10s);
    if (!squares)
        throw Error("nothing came from y in 10 s");
    std::printf("the squares of 1 to %u:", n);
    for (int value : squares->as<int>())
        std::printf(" %d", value);
    std::printf("\n");
}

} // namespace

int main(int argc, char **argv)
{
    const bool client = argc > 1 && !std::strcmp(argv[1], "--client");
    return example::run(argc - client, argv + client, 1,
                        "usage: serve SOCKET\n       serve --client SOCKET\n"
                        "Serves a graph at SOCKET, or uses the one that is served there.\n",
                        client ? ask : serve);
}
