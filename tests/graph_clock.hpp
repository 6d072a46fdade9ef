/* SPDX-License-Identifier: MIT */
/* The time that graphs, tasks and devices see, driven by a test: it stands still but when the test has it go on. */
#ifndef TEST_GRAPH_CLOCK_HPP
#define TEST_GRAPH_CLOCK_HPP

#include <ptsched/base/chrono_clock.hpp>

#include <atomic>
#include <thread>

namespace test {

/* One at a time; outlives what has begun under it. */
class GraphClock {
public:
    using Clock = ptsched::Clock;

    GraphClock() { Clock::follow(&shows_); }
    ~GraphClock() { Clock::follow(nullptr); }
    GraphClock(const GraphClock &) = delete;
    GraphClock &operator=(const GraphClock &) = delete;

    void advance(Clock::duration by) { shows_ += by.count(); }
    /* Has it go on by @step again and again until @condition holds, and lets others do what they do then. */
    template <typename Condition> void advance_until(Clock::duration step, Condition condition)
    {
        while (!condition()) {
            advance(step);
            std::this_thread::yield();
        }
    }

private:
    std::atomic<Clock::rep> shows_{Clock::now().time_since_epoch().count()};
};

/* Has a clock go on by @step all the time as long as it lives: for what waits until a time. */
class Ticking {
public:
    Ticking(GraphClock &clock, GraphClock::Clock::duration step)
        : thread_([&clock, step](const std::stop_token &stop) {
              clock.advance_until(step, [&stop] { return stop.stop_requested(); });
          })
    {
    }

private:
    std::jthread thread_;
};

} // namespace test

#endif /* TEST_GRAPH_CLOCK_HPP */
