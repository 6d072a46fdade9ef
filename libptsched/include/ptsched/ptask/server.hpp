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

#include <ptsched/base/worker.hpp>
#include <ptsched/ptask/graph.hpp>
#include <ptsched/ptask/shared_memory.hpp>

#include <list>
#include <sys/stat.h>

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

private:
    struct Connection {
        Connection(Server &server, UniqueFd &&fd);
        UniqueFd socket;
        Worker worker;
    };

    void remove_name();
    void accept_all(const Stop &stop);
    bool accept_one(std::list<Connection> &connections);
    void serve(const Stop &stop, int socket);
    void serve_input(const Stop &stop, int socket, Input &input);
    void serve_output(const Stop &stop, int socket, Output &output);

    const std::string path_;
    const std::map<std::string, Input *> inputs_;
    const std::map<std::string, Output *> outputs_;
    const UniqueFd listener_;
    struct stat name_ = {}; /* what is at the path */
    std::optional<Worker> worker_;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_SERVER_HPP */
