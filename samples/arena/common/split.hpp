/* SPDX-License-Identifier: MIT */
/* Where a program's time goes. */
#ifndef SAMPLES_ARENA_COMMON_SPLIT_HPP
#define SAMPLES_ARENA_COMMON_SPLIT_HPP

#include "samples/common/driver.hpp"

#include <array>
#include <chrono>

namespace ptsched::samples {

enum class Part { host, serialising, copies, kernels };
constexpr std::array<const char *, 4> part_names{"host", "serialising", "copies", "kernels"};

/* Does nothing until it is started: what is measured as a whole waits no more than it has to. */
class Split {
public:
    void start()
    {
        running_ = true;
        parts_ = {};
        last_ = Clock::now();
    }
    /* Ends what has come since the last call, or the start: with all that @stream was given, it was @part. */
    void end(Part part, const driver::Stream &stream)
    {
        if (!running_)
            return;
        stream.finish();
        const Clock::time_point now = Clock::now();
        parts_[static_cast<std::size_t>(part)] += std::chrono::duration<double, std::milli>(now - last_).count();
        last_ = now;
    }
    /* In milliseconds, in the order of the names. */
    const std::array<double, part_names.size()> &parts() const { return parts_; }
    double of(Part part) const { return parts_[static_cast<std::size_t>(part)]; }

private:
    using Clock = std::chrono::steady_clock;
    bool running_ = false;
    Clock::time_point last_;
    std::array<double, part_names.size()> parts_{};
};

} // namespace ptsched::samples

#endif /* SAMPLES_ARENA_COMMON_SPLIT_HPP */
