/* SPDX-License-Identifier: MIT */
/*
 * A port of a graph that another process runs and serves (Server). Any thread may push or pull, one at a time: others
 * wait for their turn, no longer than their timeout and until they are to stop.
 *
 *	Remote a("/run/user/1000/graph", "a", Remote::to_push);
 *	SharedMemory block(a.form().bytes());
 *	... block.as<float>() ...
 *	a.push(std::move(block));
 *
 * The graph's process keeps the timeouts. Where it does not answer, being stopped, say, a call ends a second after its
 * timeout, and the answer is owed: nothing else is asked before it has come, so that none is taken for another's. What
 * it brings to who pulls is what comes first when somebody pulls again; with the Remote, it goes to another who pulls.
 * Nobody knows whether what was pushed is in, or will be: that is an Error, while what is pushed after it was not sent
 * and is not in. Who is to stop waits a second for the answer likewise.
 */
#ifndef PTSCHED_PTASK_REMOTE_HPP
#define PTSCHED_PTASK_REMOTE_HPP

#include <ptsched/ptask/graph.hpp>
#include <ptsched/ptask/shared_memory.hpp>

namespace ptsched::ptask {

class RemoteImpl;

} // namespace ptsched::ptask

#pragma GCC visibility push(default)

namespace ptsched::ptask {

class Remote {
public:
    enum Direction { to_push, to_pull };
    /* Whether what is pulled is to be copied to the host, or may stay on a GPU that this process uses, too. */
    enum Place { on_host, where_it_is };
    /*
     * Throws Error if nobody serves the port at @path, or says so in time. One that is to push throws Error where it is
     * to pull, and the other way round.
     */
    Remote(const std::string &path, const std::string &port, Direction direction, Place place = on_host,
           Timeout timeout = {}, const std::stop_token &stop = {});
    ~Remote();
    Remote(const Remote &) = delete;
    Remote &operator=(const Remote &) = delete;

    const Template &form() const;
    /*
     * As Input::push(), until @stop; throws Error also when the graph's process is gone, or has not said whether the
     * block is in. Where it returns false, @block can be pushed again; it may be that nobody can write it any more, and
     * it has no data() then.
     */
    bool push(SharedMemory &&block, Timeout timeout = {}, const std::stop_token &stop = {});
    /*
     * The same for what a graph of this process has made, say. What is on a GPU that the other process uses, too, stays
     * there; it is kept until the other one needs it no more.
     */
    bool push(DatablockPtr block, Timeout timeout = {}) { return send({std::move(block)}, timeout); }
    /* The same for a block with signals, or signals alone, as Input::send(). Unless it is in, @item is as before. */
    bool send(Item &&item, Timeout timeout = {}, const std::stop_token &stop = {});
    bool end_stream(Timeout timeout = {}) { return send({nullptr, true}, timeout); }
    /*
     * As Output::pull() and take(). The datablock is memory that the graph's process has filled, or its
     * own on the GPU, which the graph's process keeps for as long as there is the datablock here. Where this process
     * has no descriptor for it, that is an Error, and it comes to who pulls next.
     */
    DatablockPtr pull(Timeout timeout = {});
    std::optional<Item> take(Timeout timeout = {}, const std::stop_token &stop = {});

private:
    const std::unique_ptr<RemoteImpl> impl_;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_REMOTE_HPP */
