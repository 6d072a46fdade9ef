/* SPDX-License-Identifier: MIT */
/*
 * A graph's ports for other processes, through a Unix socket of the graph's user. Datablocks are passed as memory, not
 * copied: what a process pushes is mapped, read-only, and what it pulls comes from the device with one copy, or is
 * mapped where it is.
 *
 *	Server server("/run/user/1000/graph", {{"a", &a}}, {{"c", &c}});
 */
#ifndef PTSCHED_PTASK_SERVER_HPP
#define PTSCHED_PTASK_SERVER_HPP

#include <ptsched/ptask/graph.hpp>

#include <map>

namespace ptsched::ptask {

class ServerImpl;

} // namespace ptsched::ptask

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/*
 * Goes before the graph does. Whatever a process at the other end sends, or when it dies, concerns only itself; but who
 * lends a block on a GPU can still write to it.
 */
class Server {
public:
    /* Throws Error if there is something at @path. */
    Server(std::string path, std::map<std::string, Input *> inputs, std::map<std::string, Output *> outputs);
    ~Server();
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

private:
    const std::unique_ptr<ServerImpl> impl_;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_SERVER_HPP */
