/* SPDX-License-Identifier: MIT */
/* What programs say of what they have measured. */
#ifndef SAMPLES_COMMON_REPORT_HPP
#define SAMPLES_COMMON_REPORT_HPP

#include <map>
#include <string>
#include <vector>

namespace ptsched::samples {

/* Of several runs. */
struct Spread {
    double median, least, most;
};
Spread spread_of(std::vector<double> values);
/* Of @values, which need not be in order; @share of them are no larger. */
double percentile(std::vector<double> values, double share);

/* Of several runs, by what ran. */
using Times = std::map<std::string, std::vector<double>>;
/* The least median of those whose names begin so; infinite if none does. */
double best_of(const Times &times, const std::string &begin);

class Report {
public:
    /* Of a program that was called by @command. In files, its records' names begin with @group. */
    explicit Report(std::string command, std::string group = "pool")
        : command_(std::move(command)), group_(std::move(group))
    {
    }
    /* Prints it, too. @against says what it is relative to or what runs beside it. */
    void record(const std::string &name, const Spread &spread, const std::string &unit,
                const std::string &against = {});
    void record(const std::string &name, double value, const std::string &unit, const std::string &against = {})
    {
        record(name, {value, value, value}, unit, against);
    }
    /* Drops what was recorded: another process writes the same. */
    void clear() { records_.clear(); }
    /*
     * In the place of those with the same names in the file, or behind them; without records there need be no file.
     * Throws device::Error if it cannot.
     */
    void write_json(const std::string &path) const;

private:
    struct Record {
        std::string name, unit, against;
        Spread spread;
    };
    const std::string command_, group_;
    std::vector<Record> records_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_REPORT_HPP */
