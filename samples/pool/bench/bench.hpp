/* SPDX-License-Identifier: MIT */
/* What the measurements of pools have in common. */
#ifndef SAMPLES_POOL_BENCH_HPP
#define SAMPLES_POOL_BENCH_HPP

#include <ptsched/pool.hpp>

#include <string>
#include <vector>

namespace ptsched::pool::bench {

struct Settings {
    std::string module, json;
    bool quick = false;
    unsigned rounds() const { return quick ? 3 : 5; }
};

/* Of several runs. */
struct Spread {
    double median, least, most;
};
Spread spread_of(std::vector<double> values);
/* Of @values, which need not be in order; @share of them are no larger. */
double percentile(std::vector<double> values, double share);

class Report {
public:
    explicit Report(std::string command) : command_(std::move(command)) {}
    /* Prints it, too. @against says what it is relative to or what runs beside it. */
    void record(const std::string &name, const Spread &spread, const std::string &unit,
                const std::string &against = {});
    void record(const std::string &name, double value, const std::string &unit, const std::string &against = {})
    {
        record(name, {value, value, value}, unit, against);
    }
    /* Throws Error if it cannot. */
    void write_json(const std::string &path) const;

private:
    struct Record {
        std::string name, unit, against;
        Spread spread;
    };
    const std::string command_;
    std::vector<Record> records_;
};

/* What there is without a pool: launches of a kernel that does nothing. Returns nanoseconds for each. */
double measure_launches(device::Device &gpu, const Settings &settings, Report &report);
/* Tasks that do nothing, by their size (Fig. 8) and the number of blocks (Fig. 9). */
void measure_dispatch(device::Device &gpu, const Settings &settings, double launch_ns, Report &report);
/* From a push to the pop of the same task, in a pool that does nothing else. */
void measure_round_trips(device::Device &gpu, const Settings &settings, Report &report);
/* What a pool takes of the bus with nothing to do (Fig. 10). */
void measure_idle_bus(device::Device &gpu, const Settings &settings, Report &report);

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_BENCH_HPP */
