/* SPDX-License-Identifier: MIT */
/* Ways to do the same, by hand and by tasks: measured by turns, and compared. */
#ifndef SAMPLES_COMMON_WAYS_HPP
#define SAMPLES_COMMON_WAYS_HPP

#include "samples/common/parts.hpp"
#include "samples/common/program.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ptsched::samples {

/* Its data begins and ends on the host. */
class Way {
public:
    virtual ~Way() = default;
    /* The data is again as at first; nothing of it is on a device. */
    virtual void restore() = 0;
    /* All that is measured: returns when the result is on the host. */
    virtual void run() = 0;
    /* Throws Error if the result is wrong. */
    virtual void check() = 0;
};

struct NamedWay {
    std::string name;
    std::function<std::unique_ptr<Way>()> make;
};

/* From when it is restored to its result. */
double milliseconds_of(Way &way);
/* Each runs twice, and its results are right. */
void check_ways(const std::vector<NamedWay> &ways);
/*
 * How many milliseconds each takes, in so many rounds, in which they take turns; their results are right at the end.
 * With --quick, what takes more than a second does so once, for all rounds.
 */
std::vector<std::vector<double>> time_ways(const Settings &settings, const std::vector<NamedWay> &ways);
/*
 * Records how many milliseconds each takes, as @name/WAY_ms, and how many times the first's time is that of each of the
 * others, as @name/WAY.
 */
void measure_ways(const Settings &settings, Report &report, const std::string &name, const std::vector<NamedWay> &ways);

/*
 * Checks the ways of a problem of the shape @small, as @ways_of(problem) has them; and, unless that is all that is
 * asked for, measures those of one of the shape @large as @name.
 */
template <typename Problem, typename Shape, typename WaysOf>
void check_and_measure(const Settings &settings, Report &report, const std::string &name, const Shape &small,
                       const Shape &large, const WaysOf &ways_of)
{
    Problem few(small);
    check_ways(ways_of(few));
    if (settings.check)
        return;
    Problem many(large);
    measure_ways(settings, report, name, ways_of(many));
}

/* What results are compared with: that of the host, or, where that would take too long, the first that there is. */
template <typename T> class Expected {
public:
    /* @tolerance: of what is largest. */
    explicit Expected(double tolerance) : tolerance_(tolerance) {}
    void set(std::vector<T> values) { values_ = std::move(values); }

    void check(std::span<const T> found, const std::string &what)
    {
        if (values_.empty())
            values_.assign(found.begin(), found.end());
        double worst = 0, largest = 0;
        for (std::size_t i = 0; i < values_.size(); i++) {
            const double error = std::abs(static_cast<double>(found[i]) - static_cast<double>(values_[i]));
            worst = error <= worst ? worst : error; /* what is not a number, too */
            largest = std::max(largest, std::abs(static_cast<double>(values_[i])));
        }
        if (!(worst <= tolerance_ * largest))
            throw Error(what + " is wrong: by " + std::to_string(worst / largest) + " of the largest element");
    }

private:
    const double tolerance_;
    std::vector<T> values_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_WAYS_HPP */
