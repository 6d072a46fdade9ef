/* SPDX-License-Identifier: MIT */
/*
 * A port of a graph that another process runs and serves (Server). Any thread may push or pull, one at a time.
 *
 *	Remote a("/run/user/1000/graph", "a", Remote::to_push);
 *	SharedMemory block(a.form().bytes());
 *	... block.as<float>() ...
 *	a.push(std::move(block));
 */
#ifndef PTSCHED_PTASK_REMOTE_HPP
#define PTSCHED_PTASK_REMOTE_HPP

#include "ptask.hpp"
#include "shared.hpp"

namespace ptsched::ptask {

class Remote {
public:
    enum Direction { to_push, to_pull };
    /* Whether what is pulled is to be copied to the host, or may stay on a GPU that this process uses, too. */
    enum Place { on_host, where_it_is };
    /* Throws Error if nobody serves the port at @path. */
    Remote(const std::string &path, const std::string &port, Direction direction, Place place = on_host);

    const Template &form() const { return form_; }
    /* As Input::push(); throws Error also when the graph's process is gone. */
    bool push(SharedMemory &&block, Timeout timeout = {});
    /*
     * The same for what a graph of this process has made, say. What is on a GPU that the other process uses, too, stays
     * there; it is kept until the other one needs it no more.
     */
    bool push(const DatablockPtr &block, Timeout timeout = {});
    bool end_stream(Timeout timeout = {});
    /*
     * As Output::pull() and take(). The datablock is memory that the graph's process has filled, or its
     * own on the GPU, which the graph's process keeps for as long as there is the datablock here.
     */
    DatablockPtr pull(Timeout timeout = {});
    std::optional<Item> take(Timeout timeout = {});

private:
    /* Those that follow are called with the lock. */
    Packet call(Packet &&request, Timeout timeout);
    std::optional<Item> next(Timeout timeout);
    bool push_memory(SharedMemory &&block, Timeout timeout);
    DatablockPtr block_in(Packet &answer);

    std::mutex mutex_; /* one request at a time; protects what follows */
    UniqueFd socket_;
    bool lending_ = true; /* may help: it has not failed */
    bool ended_ = false;  /* what pull() has given came with the end of a stream, which is next */
    Template form_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REMOTE_HPP */
