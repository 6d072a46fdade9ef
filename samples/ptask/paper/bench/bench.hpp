/* SPDX-License-Identifier: MIT */
/* What the measurements have in common: options, how a time is taken, and where figures go. */
#ifndef PTSCHED_PAPER_BENCH_HPP
#define PTSCHED_PAPER_BENCH_HPP

#include "samples/ptask/paper/gestures.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptsched::paper {

struct Options {
    std::string module, json;
    std::string events; /* the file for those of gestures; empty: a temporary one */
    std::vector<std::string> only;
    unsigned size = 0;       /* of matrices; 0: the paper's */
    unsigned iterations = 0; /* of each measurement; 0: as time allows */
    bool quick = false;

    /* Whether @name, or something below or above it, was asked for. */
    bool wants(const std::string &name) const;
    double seconds(double normally) const { return quick ? normally / 3 : normally; }
};

class Report {
public:
    explicit Report(std::string command) : command_(std::move(command)) {}
    /* @against says what it is compared with or relative to. A value that is no number, as from 0/0, is a failure. */
    void record(const std::string &name, double value, const std::string &unit, const std::string &against = {});
    void write_json(const std::string &path) const;
    /* Something went wrong: said at once, and by the exit status. */
    void fail(const std::string &what);
    bool failed() const { return failed_; }
    bool empty() const { return records_.empty(); }

private:
    struct Record {
        std::string name, unit, against;
        double value;
    };
    std::string command_;
    std::vector<Record> records_;
    bool failed_ = false;
};

/* A workload and what its results must be, which is computed once. */
class Checked {
public:
    explicit Checked(Workload workload) : workload_(std::move(workload)) {}
    const Workload &workload() const { return workload_; }
    /* Throws Error if they are wrong. */
    void check(Executor &executor, const std::string &who);

private:
    Workload workload_;
    std::map<unsigned, std::vector<Content>> expected_;
};

struct Bench {
    const Gpu &gpu;
    const Options &options;
    Report &report;

    /*
     * The median time of a run in seconds, where @count begin at once; after warming up. Several take turns, so that
     * what changes meanwhile, a clock or what else the machine does, is the same for all.
     */
    std::vector<double> times(const std::vector<Executor *> &executors, unsigned count, double seconds) const;
    /* The same of variants, results checked; none if one failed, which is reported. */
    std::vector<double> times(Checked &checked, const std::vector<Variant> &variants, unsigned count,
                              double seconds) const;
    std::optional<double> time(Checked &checked, const Variant &variant, unsigned count, double seconds) const;
    /* The same of all variants(), in their order; those that are close to each other take turns. */
    std::vector<double> times_of_variants(Checked &checked, unsigned count, double seconds) const;
};

/* Pictures of 640 x 480, or as wide as is asked for. */
Scene scene_of(const Options &options);

double median(std::vector<double> values);
double geometric_mean(const std::vector<double> &values);
/* So that nobody takes a long measurement for a standstill. */
void say_progress(const std::string &what);

void table5(const Bench &bench);
void chains(const Bench &bench);
void invocations(const Bench &bench);
void priorities(const Bench &bench);
void gesture_rates(const Bench &bench);
void copy_modes(const Bench &bench);
void several_gpus(const Bench &bench);

/* The programs as graphs, small, where there is no GPU: prints times, and reports results that are wrong. */
void run_on_opencl(const Options &options, Report &report);

/* For the process whose driver does nothing: prints the time of an empty ptask in microseconds. */
void print_host_cost(const Options &options, bool lowered);
/* For the process that has one GPU: prints the times of the graphs that are compared. */
void print_graph_times(const Bench &bench);

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_BENCH_HPP */
