/* SPDX-License-Identifier: MIT */
/*
 * Channels that are bound to files, pipes and sockets: a thread for each. They take the descriptor, and go before their
 * graph does.
 *
 *	StreamReader reader(graph.input(xform["depth"]), open("frames", O_RDONLY));
 *	StreamWriter writer(graph.output(filter["points"]), STDOUT_FILENO);
 *	graph.run();
 *	writer.wait();
 */
#ifndef PTSCHED_PTASK_STREAM_HPP
#define PTSCHED_PTASK_STREAM_HPP

#include <ptsched/base/worker.hpp>
#include <ptsched/ptask/graph.hpp>

#include <climits>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/*
 * From a descriptor into a graph, in blocks of the port's template; of one of variable form, full ones, and what is
 * left at the end. The end of the file is the end of the stream. What goes wrong, also a last record that is not whole,
 * goes into the graph as an error, and then the end.
 */
class StreamReader {
public:
    /* Throws Error for a port of opaque form: nobody could tell where a block ends. */
    StreamReader(Input &input, int fd);
    /* Reads no more. What was read in part is dropped; the graph gets no signal. */
    ~StreamReader() = default;
    void request_stop() { worker_.request_stop(); }
    /* Blocks until the end; throws what went wrong, Failure if it is the graph. */
    void wait() { worker_.wait(); }

private:
    void read(const Stop &stop);
    /* Null at the end of the file, or if it is to stop. */
    DatablockPtr next(const Stop &stop);
    /* What went wrong goes into the graph, and the end; throws it. */
    [[noreturn]] void fail(const Stop &stop, const std::string &text);
    /* False at the end of the file, or if it is to stop. */
    bool fill(const Stop &stop, std::byte *to);
    void finish(const Stop &stop);
    std::string problem() const;

    UniqueFd fd_;
    Input &input_;
    const Template form_;
    std::vector<std::byte> rest_; /* of a block that the end of the file has cut short */
    Worker worker_;
};

/*
 * From a graph to a descriptor, which is closed when no more is written: at the end of the stream, after an error, or
 * when the graph has stopped.
 */
class StreamWriter {
public:
    StreamWriter(Output &output, int fd);
    /* Writes no more; a block may be written in part. */
    ~StreamWriter() = default;
    void request_stop() { worker_.request_stop(); }
    /*
     * Blocks until all is written; throws what went wrong: an error that travelled with the stream, a reader that is
     * gone, Failure if it is the graph. Then nothing is pulled any more.
     */
    void wait() { worker_.wait(); }

private:
    void write(const Stop &stop);
    bool write_block(const Stop &stop, int fd, const std::byte *from, std::size_t bytes);

    UniqueFd fd_;
    Output &output_;
    bool is_socket_ = false;
    std::size_t piece_ = PIPE_BUF; /* what is written at once */
    Worker worker_;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_STREAM_HPP */
