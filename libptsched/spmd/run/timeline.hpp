/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_TIMELINE_HPP
#define PTSCHED_SPMD_RUN_TIMELINE_HPP

#include "libptsched/base/lock.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace ptsched::spmd {

/* Seconds since it was made. */
class Stopwatch {
public:
    double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/* What a rank's devices and stages have done when, for Perfetto. Thread-safe. */
class Timeline {
public:
    /* @wanted: else nothing is kept. */
    explicit Timeline(bool wanted) : wanted_(wanted) {}

    bool is_wanted() const { return wanted_; }
    /* @lane: of several things that a row has beside each other. Times are seconds of the run's stopwatch. */
    void add(const std::string &row, unsigned lane, const std::string &name, double begin, double end,
             std::uint64_t bytes);
    /* Throws Error if the file cannot be written. */
    void write(const std::string &path, unsigned rank);

private:
    struct Span {
        std::string name;
        double begin, end;
        std::uint64_t bytes;
    };

    const bool wanted_;
    Mutex mutex_;
    std::map<std::pair<std::string, unsigned>, std::vector<Span>> rows_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_TIMELINE_HPP */
