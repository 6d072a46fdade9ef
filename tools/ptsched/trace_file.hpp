/* SPDX-License-Identifier: MIT */
/*
 * A trace as Perfetto reads it: tracks with slices, instants and counters, written packet by packet, so that what has
 * been written opens at any time. Instants are CLOCK_MONOTONIC, in nanoseconds.
 */
#ifndef PTSCHED_TOOL_TRACE_FILE_HPP
#define PTSCHED_TOOL_TRACE_FILE_HPP

#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptsched {

namespace perfetto {
class Trace;
class TrackEvent;
class TracePacket;
} // namespace perfetto

/* A number that is shown with a slice. */
struct Note {
    const char *name;
    std::int64_t value;
};

enum class Unit { Nanoseconds, Count };

class TraceFile {
public:
    using Track = std::uint64_t;

    /* "-": standard output. Where nobody reads, writing ends when @stop, a descriptor, is readable. Throws Error. */
    TraceFile(const std::string &path, int stop);
    TraceFile(const TraceFile &) = delete;
    TraceFile &operator=(const TraceFile &) = delete;
    ~TraceFile();

    /* @parent 0: none. Those that have the same name and parent are shown as one. */
    Track add_track(const std::string &name, Track parent);
    Track add_counter(const std::string &name, Track parent, Unit unit);

    void begin(Track track, std::uint64_t ns, const std::string &name, const std::vector<Note> &notes = {});
    /* The slice of the track that began last. */
    void end(Track track, std::uint64_t ns);
    void instant(Track track, std::uint64_t ns, const std::string &name);
    void count(Track counter, std::uint64_t ns, std::int64_t value);

    /*
     * Writes what has been added since, which otherwise is done whenever it has become much. To be called now and then:
     * it says what the clocks show, which a machine that sleeps sets apart. Throws Error.
     */
    void flush();
    std::uint64_t bytes() const { return bytes_; }

private:
    std::string path_;
    UniqueFd fd_;
    int stop_;
    /* What has not been written. */
    std::unique_ptr<perfetto::Trace> trace_;
    std::string buffer_;
    std::uint64_t bytes_ = 0;
    std::uint64_t last_track_;
    std::uint32_t sequence_;

    perfetto::TracePacket &add_packet();
    perfetto::TrackEvent &add_event(Track track, std::uint64_t ns);
    perfetto::TracePacket &add_clocks();
    void write_packets();
    void write_buffer();
};

} // namespace ptsched

#endif /* PTSCHED_TOOL_TRACE_FILE_HPP */
