/* SPDX-License-Identifier: MIT */
#ifndef PTSIM_OUTPUT_HPP
#define PTSIM_OUTPUT_HPP

#include "tools/ptsim/suite.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace ptsim {

/* On standard error, every two seconds: what is simulated, and how much of all is done. */
class Progress {
public:
    explicit Progress(std::size_t runs) : runs_(runs) {}

    void begin(const std::string &what, Ns duration);
    void tell(Ns now);
    void end() { done_++; }

private:
    using Clock = std::chrono::steady_clock;

    std::size_t runs_;
    std::size_t done_ = 0;
    std::string what_;
    Ns duration_ = 1;
    Clock::time_point begin_ = Clock::now();
    Clock::time_point last_ = begin_;
};

void print(const std::vector<Record> &records);

/* In the form of Documentation/results. Throws std::runtime_error. */
void write_records(const std::filesystem::path &file, const std::vector<Record> &records, const std::string &command);

/* Lines of the time in seconds and the lag of each watched program in ms. */
void write_lags(const std::filesystem::path &file, const std::vector<Lag> &lags);

} // namespace ptsim

#endif
