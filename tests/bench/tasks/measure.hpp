/* SPDX-License-Identifier: MIT */
/* What it costs to make tasks and to run them. */
#ifndef TEST_BENCH_TASKS_MEASURE_HPP
#define TEST_BENCH_TASKS_MEASURE_HPP

#include "samples/common/report.hpp"
#include <ptsched/device/device.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace ptsched::bench_tasks {

struct Settings {
    std::string module, json;
    std::vector<std::string> only;
    unsigned threads = 1;
    bool quick = false, check = false;

    bool wants(const std::string &what) const;
    unsigned rounds() const { return check ? 1 : quick ? 3 : 5; }
    /* Of tasks that are measured together. */
    unsigned long count(unsigned long normally) const { return check ? 100 : quick ? normally / 10 : normally; }
};

/*
 * A task uses two numbers of so many: it changes the k-th after the last one, and reads one that is half as many away.
 * So it depends on two others, and half as many can run at once.
 */
constexpr unsigned long numbers = 1024;
constexpr unsigned long read_by(unsigned long task)
{
    return (task + numbers / 2) % numbers;
}
constexpr unsigned long changed_by(unsigned long task)
{
    return task % numbers;
}

inline double nanoseconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/* Throws Error if there is none. */
device::Device &first_gpu();

void measure_host(const Settings &settings, samples::Report &report);
void measure_cuda(const Settings &settings, samples::Report &report);
void measure_helper(const Settings &settings, samples::Report &report);

/* Of @count tasks of OpenMP that add to what they change, in nanoseconds for each. @values: of numbers. */
double openmp_ns(std::vector<unsigned long> &values, unsigned long count, unsigned threads);

} // namespace ptsched::bench_tasks

#endif /* TEST_BENCH_TASKS_MEASURE_HPP */
