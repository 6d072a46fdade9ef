/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_STREAM_CALL_HPP
#define PTSCHED_PTASK_STREAM_CALL_HPP

#include <ptsched/ptask/arguments.hpp>

#include <cstring>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

class Call;

/*
 * What a function sees that gives a GPU the work of a run: a stream, and where the blocks are in the GPU's memory. What
 * it gives the stream comes after all that makes the inputs, and before all that uses the outputs.
 */
class StreamCall {
public:
    /* All of it is to stay as long. */
    StreamCall(const Arguments::Ports &ports, const device::StreamWork &work);
    StreamCall(const StreamCall &) = delete;
    StreamCall &operator=(const StreamCall &) = delete;

    /* The driver's CUstream, which is the run-time's cudaStream_t, too. */
    CUstream_st *stream() const { return work_.stream; }
    /* The GPU, by its number in the driver's order; its primary context is current. */
    int device() const { return work_.device; }
    std::size_t parameters() const { return ports_.size(); }
    /*
     * In the GPU's memory; of a parameter by value, the value itself. Throws Error for a parameter that there is not,
     * and for one that only takes unless T is const.
     */
    template <typename T> T *at(std::size_t parameter) const { return (*this)[parameter]; }
    Argument operator[](std::size_t parameter) const;
    /* Of a parameter by value; throws Error for another one, or of another size. */
    template <typename T> T value(std::size_t parameter) const
    {
        T value;
        std::memcpy(&value, value_of(parameter, sizeof(value)), sizeof(value));
        return value;
    }
    std::size_t bytes(std::size_t parameter) const;
    std::size_t records(std::size_t parameter) const;

private:
    const Port &port(std::size_t parameter) const;
    const void *value_of(std::size_t parameter, std::size_t bytes) const;

    const Arguments::Ports &ports_;
    const device::StreamWork &work_;
    const Call &call_;
};

/* What it throws fails the graph. */
using StreamFunction = std::function<void(StreamCall &)>;

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_STREAM_CALL_HPP */
