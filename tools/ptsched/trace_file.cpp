// SPDX-License-Identifier: MIT
#include "tools/ptsched/trace_file.hpp"

#include "perfetto.pb.h"
#include "tools/ptsched/scheduler.hpp"
#include "tools/ptsched/write_all.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <random>
#include <unistd.h>

namespace ptsched {

namespace {

/* So many packets are kept before they are written. */
constexpr int most_packets = 512;

UniqueFd open_output(const std::string &path)
{
    UniqueFd fd(path == "-" ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                            : open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!fd)
        throw Error("cannot write to " + path + ": " + strerror(errno));
    if (isatty(fd.get()))
        throw Error("a trace is not for a terminal: name a file with -o, or pipe it into a program");
    return fd;
}

std::uint64_t read_clock(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

TraceFile::TraceFile(const std::string &path, int stop)
    : path_(path), fd_(open_output(path)), stop_(stop), trace_(std::make_unique<perfetto::Trace>())
{
    /* Not the numbers of another trace, to which this one may be appended. */
    std::random_device random;
    last_track_ = static_cast<std::uint64_t>(random()) << 32;
    sequence_ = random() | 1;
    add_clocks().set_sequence_flags(perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
}

TraceFile::~TraceFile() = default;

perfetto::TracePacket &TraceFile::add_packet()
{
    if (trace_->packet_size() >= most_packets)
        write_packets();
    perfetto::TracePacket &packet = *trace_->add_packet();
    packet.set_trusted_packet_sequence_id(sequence_);
    return packet;
}

/* What the clock of the events is in others: a trace of the whole system keeps to CLOCK_BOOTTIME. */
perfetto::TracePacket &TraceFile::add_clocks()
{
    struct {
        perfetto::BuiltinClock id;
        clockid_t clock;
    } static const clocks[] = {{perfetto::BUILTIN_CLOCK_BOOTTIME, CLOCK_BOOTTIME},
                               {perfetto::BUILTIN_CLOCK_MONOTONIC, CLOCK_MONOTONIC},
                               {perfetto::BUILTIN_CLOCK_REALTIME, CLOCK_REALTIME}};
    perfetto::TracePacket &packet = add_packet();
    perfetto::ClockSnapshot &snapshot = *packet.mutable_clock_snapshot();
    for (const auto &clock : clocks) {
        perfetto::ClockSnapshot::Clock &reading = *snapshot.add_clocks();
        reading.set_clock_id(clock.id);
        reading.set_timestamp(read_clock(clock.clock));
    }
    return packet;
}

TraceFile::Track TraceFile::add_track(const std::string &name, Track parent)
{
    perfetto::TrackDescriptor &track = *add_packet().mutable_track_descriptor();
    track.set_uuid(++last_track_);
    if (parent)
        track.set_parent_uuid(parent);
    track.set_name(name);
    return last_track_;
}

TraceFile::Track TraceFile::add_counter(const std::string &name, Track parent, Unit unit)
{
    Track track = add_track(name, parent);
    perfetto::TracePacket &packet = *trace_->mutable_packet(trace_->packet_size() - 1);
    packet.mutable_track_descriptor()->mutable_counter()->set_unit(unit == Unit::Nanoseconds
                                                                       ? perfetto::CounterDescriptor::UNIT_TIME_NS
                                                                       : perfetto::CounterDescriptor::UNIT_COUNT);
    return track;
}

perfetto::TrackEvent &TraceFile::add_event(Track track, std::uint64_t ns)
{
    perfetto::TracePacket &packet = add_packet();
    packet.set_timestamp(ns);
    packet.set_timestamp_clock_id(perfetto::BUILTIN_CLOCK_MONOTONIC);
    packet.mutable_track_event()->set_track_uuid(track);
    return *packet.mutable_track_event();
}

void TraceFile::begin(Track track, std::uint64_t ns, const std::string &name, const std::vector<Note> &notes)
{
    perfetto::TrackEvent &event = add_event(track, ns);
    event.set_type(perfetto::TrackEvent::TYPE_SLICE_BEGIN);
    event.set_name(name);
    for (const Note &note : notes) {
        perfetto::DebugAnnotation &annotation = *event.add_debug_annotations();
        annotation.set_name(note.name);
        annotation.set_int_value(note.value);
    }
}

void TraceFile::end(Track track, std::uint64_t ns)
{
    add_event(track, ns).set_type(perfetto::TrackEvent::TYPE_SLICE_END);
}

void TraceFile::instant(Track track, std::uint64_t ns, const std::string &name)
{
    perfetto::TrackEvent &event = add_event(track, ns);
    event.set_type(perfetto::TrackEvent::TYPE_INSTANT);
    event.set_name(name);
}

void TraceFile::count(Track counter, std::uint64_t ns, std::int64_t value)
{
    perfetto::TrackEvent &event = add_event(counter, ns);
    event.set_type(perfetto::TrackEvent::TYPE_COUNTER);
    event.set_counter_value(value);
}

void TraceFile::flush()
{
    add_clocks();
    write_packets();
}

void TraceFile::write_packets()
{
    buffer_.clear();
    trace_->AppendToString(&buffer_);
    trace_->Clear();
    write_buffer();
    bytes_ += buffer_.size();
}

/* Whole packets, or none of them: a reader stumbles over half a packet that others follow. */
void TraceFile::write_buffer()
{
    const int error = write_all(fd_.get(), buffer_, stop_);

    if (!error)
        return;
    /* Not of a pipe. */
    [[maybe_unused]] int ignored = ftruncate(fd_.get(), static_cast<off_t>(bytes_));
    throw Error("cannot write to " + path_ + ": " +
                (error == ECANCELED ? "nobody reads it, and it is to end" : strerror(error)));
}

} // namespace ptsched
