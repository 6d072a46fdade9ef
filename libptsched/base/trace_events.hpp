/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_TRACE_EVENTS_HPP
#define PTSCHED_BASE_TRACE_EVENTS_HPP

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace ptsched {

/* A timeline in the Trace Event Format, which Perfetto and Chrome show: groups of rows, and what has been in these. */
class TraceEvents {
public:
    /* A number that is shown with a span; 0: it is not. */
    struct Note {
        const char *name;
        std::uint64_t value;
    };

    /* @lost: how many spans there were besides, which is said. */
    explicit TraceEvents(std::uint64_t lost);

    void name_group(unsigned group, const std::string &name);
    void name_row(unsigned group, unsigned row, const std::string &name);
    void add_span(unsigned group, unsigned row, const std::string &name, std::chrono::nanoseconds begin,
                  std::chrono::nanoseconds length, std::initializer_list<Note> notes = {});
    /* So much has not been taken yet. */
    std::size_t bytes() const { return text_.size(); }
    /* The text since the last call. */
    std::string take();
    /* The last of it: nothing comes behind. */
    std::string take_end();

private:
    void begin_event(const char *kind, const std::string &name, unsigned group, unsigned row);
    void add_label(const char *what, const std::string &name, unsigned group, unsigned row);

    std::string text_;
    bool is_first_ = true;
};

} // namespace ptsched

#endif /* PTSCHED_BASE_TRACE_EVENTS_HPP */
