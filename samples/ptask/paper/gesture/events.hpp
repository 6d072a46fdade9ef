/* SPDX-License-Identifier: MIT */
/* Where the gestural interface's events go. */
#ifndef PTSCHED_PAPER_EVENTS_HPP
#define PTSCHED_PAPER_EVENTS_HPP

#include "samples/ptask/paper/gestures.hpp"

#include <chrono>

namespace ptsched::paper {

/* Not for several threads at once. */
class Events {
public:
    virtual ~Events() = default;
    /* At once, and blocks as long as a reader has no room. Throws Error if it cannot be. */
    void deliver(const Hand &hand);
    /* Nobody reads any more: what is delivered from then on is lost. */
    virtual bool reader_is_gone() const { return false; }

protected:
    virtual void write(const Hand &hand) = 0;
    /* Says on standard error how far it is, every other second. */
    bool tells_progress_ = true;

private:
    std::uint64_t delivered_ = 0;
    std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

/*
 * @to is "uinput" for a pointer of this machine, "-" for lines on standard output, or a file for such lines. Throws
 * Error if it cannot be opened.
 */
std::unique_ptr<Events> open_events(const std::string &to);
/* The first of these. */
std::unique_ptr<Events> open_uinput();

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_EVENTS_HPP */
