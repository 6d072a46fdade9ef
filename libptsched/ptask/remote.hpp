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
    /* Throws Error if nobody serves the port at @path. */
    Remote(const std::string &path, const std::string &port, Direction direction);

    const Template &form() const { return form_; }
    /* As Input::push(); throws Error also when the graph's process is gone. */
    bool push(SharedMemory &&block, Timeout timeout = {});
    bool end_stream(Timeout timeout = {});
    /* As Output::pull() and take(). The datablock is the memory that the graph's process has filled. */
    DatablockPtr pull(Timeout timeout = {});
    std::optional<Item> take(Timeout timeout = {});

private:
    Packet call(Packet &&request, Timeout timeout);

    std::mutex mutex_; /* one request at a time */
    UniqueFd socket_;
    Template form_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REMOTE_HPP */
