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

#include <ptsched/ptask/graph.hpp>

namespace ptsched::ptask {

class StreamReaderImpl;
class StreamWriterImpl;

} // namespace ptsched::ptask

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
    ~StreamReader();
    StreamReader(const StreamReader &) = delete;
    StreamReader &operator=(const StreamReader &) = delete;
    void request_stop();
    /* Blocks until the end; throws what went wrong, Failure if it is the graph. */
    void wait();

private:
    const std::unique_ptr<StreamReaderImpl> impl_;
};

/*
 * From a graph to a descriptor, which is closed when no more is written: at the end of the stream, after an error, or
 * when the graph has stopped.
 */
class StreamWriter {
public:
    StreamWriter(Output &output, int fd);
    /* Writes no more; a block may be written in part. */
    ~StreamWriter();
    StreamWriter(const StreamWriter &) = delete;
    StreamWriter &operator=(const StreamWriter &) = delete;
    void request_stop();
    /*
     * Blocks until all is written; throws what went wrong: an error that travelled with the stream, a reader that is
     * gone, Failure if it is the graph. Then nothing is pulled any more.
     */
    void wait();

private:
    const std::unique_ptr<StreamWriterImpl> impl_;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_STREAM_HPP */
