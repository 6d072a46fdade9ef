/* SPDX-License-Identifier: MIT */
/*
 * Reckoning with the times of events: which of them the device spent on the program's work. Not locked.
 *
 * Events of one context tell milliseconds between each other, by the device's clock, which goes on while the program's
 * channels are off; when they are off is known by the host's.
 */
#ifndef PTSCHED_PRELOAD_METER_EVENT_TIMES_HPP
#define PTSCHED_PRELOAD_METER_EVENT_TIMES_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptsched::preload {

/* Disjoint intervals in milliseconds after a base event; old ones are forgotten, too early ones then count in full. */
class IntervalUnion {
public:
    /* Returns what [begin, end] adds. */
    double add(double begin, double end);
    void shift(double by);
    void clear() { intervals_.clear(); }

private:
    struct Interval {
        double begin, end;
    };
    static constexpr std::size_t kept = 64;
    std::vector<Interval> intervals_;
};

/*
 * Periods of which only the sum counts, one after another: as those with the channels off the hardware. Host time in
 * ns.
 */
class Periods {
public:
    void begin(std::uint64_t now);
    void end(std::uint64_t now);
    /* Of all of them together, what lies before @ns. */
    std::uint64_t until(std::uint64_t ns) const;

private:
    struct Period {
        std::uint64_t begin, end, before; /* all earlier ones together */
    };
    /* More than that become one, the oldest first: for what began before them, that is the same. */
    static constexpr std::size_t kept = 1024;
    std::vector<Period> periods_;
};

/*
 * What a context's base event is in host time, to some tens of microseconds. An event cannot have come before its
 * submission, nor after it was seen; the least that passed until it was seen is taken for nothing, and slowly for more,
 * since no two clocks go alike.
 */
class EventClock {
public:
    /* Work that took from @begin_ms to @end_ms after the base was submitted and has now been seen to have completed. */
    void saw(double begin_ms, double end_ms, std::uint64_t submitted_ns, std::uint64_t now);
    std::uint64_t host_ns(double ms) const;
    double ms(std::uint64_t host_ns) const { return (static_cast<double>(host_ns) - base_ns_) / 1e6; }
    /* The base is now the event that was at @ms. */
    void rebase(double ms) { base_ns_ += ms * 1e6; }
    void clear() { *this = {}; }

private:
    double base_ns_{0};
    std::uint64_t seen_ns_{0}; /* 0: never */
};

} // namespace ptsched::preload

#endif
