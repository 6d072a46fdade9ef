/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler's events mean as a trace. A device is a track; below it are one for whoever holds the turn, a
 * count of those who wait, and for each process a track of its own with a count of its budget. On a process's track
 * "waiting" and "turn" are slices; within a turn there is "called back", and within that "taken off".
 */
#ifndef PTSCHED_TOOL_TIMELINE_HPP
#define PTSCHED_TOOL_TIMELINE_HPP

#include "tools/ptsched/scheduler.hpp"
#include "tools/ptsched/trace_file.hpp"

#include <map>

namespace ptsched {

class Timeline {
public:
    /* @since_ns: when events began to be collected. */
    Timeline(TraceFile &trace, std::uint64_t since_ns) : trace_(trace), since_ns_(since_ns) {}

    void add_device(const Device &device);
    bool knows(std::uint32_t device_id) const { return devices_.contains(device_id); }
    /*
     * How things were at some instant between @since_ns and @until_ns, as the scheduler has told. It counts for
     * processes of which events until then say nothing.
     */
    void add_state(const std::vector<Entity> &entities, std::uint64_t until_ns);
    /* No event until @until_ns of add_state() is still to come. */
    void settle();
    void add(Event event);
    /* Events were lost; those that follow, and the state that is to be added, are of after @now_ns. */
    void lose(std::uint64_t now_ns);
    /* What goes on at @now_ns is shown until then. */
    void finish(std::uint64_t now_ns);

    std::size_t processes() const { return seen_processes_; }

private:
    using Track = TraceFile::Track;
    enum class State { Idle, Waiting, Holding };

    struct Process {
        std::string name;
        Track track = 0;
        Track budget = 0;
        State state = State::Idle;
        unsigned depth = 0; /* slices within the turn */
        bool leaving = false;
        bool supposed = false; /* @state is as add_state() has it, and nothing has been written of that */
        std::size_t lane = 0;  /* where its turn is among the device's */
    };

    struct DeviceTracks {
        Track track = 0;
        Track waiting = 0;
        std::int64_t waiters = 0;
        Track lost = 0;
        /* Holders, each on one of its own while there are several: slices of one track must not overlap otherwise. */
        std::vector<Track> lanes;
        std::vector<bool> lane_used;
        std::map<std::uint32_t, Process> processes;
        std::uint64_t last_ns = 0; /* of its latest event */
        bool settled = true;       /* none of @processes is supposed to do something */
    };

    TraceFile &trace_;
    std::uint64_t since_ns_;
    std::uint64_t until_ns_ = 0;
    std::map<std::uint32_t, DeviceTracks> devices_;
    std::size_t seen_processes_ = 0;

    Process &add_process(DeviceTracks &device, std::uint32_t pid, const std::string &comm);
    static State state_before(const Event &event);
    static bool has_gone(const Process &process) { return process.leaving && process.state == State::Idle; }
    void settle(DeviceTracks &device);
    void enter(DeviceTracks &device, Process &process, State state, std::uint64_t ns,
               const std::vector<Note> &notes = {});
    void take_lane(DeviceTracks &device, Process &process, std::uint64_t ns);
    void deepen(Process &process, std::uint64_t ns, const char *name);
    void apply(DeviceTracks &device, Process &process, const Event &event);
};

} // namespace ptsched

#endif /* PTSCHED_TOOL_TIMELINE_HPP */
