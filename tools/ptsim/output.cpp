// SPDX-License-Identifier: MIT
#include "tools/ptsim/output.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <stdexcept>

namespace ptsim {
namespace {

constexpr std::chrono::seconds kInterval{2};

std::ofstream open(const std::filesystem::path &file)
{
    std::ofstream stream(file);
    if (!stream)
        throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(errno));
    return stream;
}

void close(std::ofstream &stream, const std::filesystem::path &file)
{
    stream.close();
    if (!stream)
        throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(errno));
}

/* Names and commands are the program's own, but a folder may be called as it likes. */
std::string quoted(const std::string &text)
{
    std::string result = "\"";
    for (char c : text) {
        char escaped[8];
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
            result += escaped;
        } else {
            result += c;
        }
    }
    return result + '"';
}

} // namespace

void Progress::begin(const std::string &what, Ns duration)
{
    what_ = what;
    duration_ = duration;
}

void Progress::tell(Ns now)
{
    const Clock::time_point time = Clock::now();
    if (time - last_ < kInterval)
        return;
    last_ = time;
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(time - begin_).count();
    std::fprintf(stderr, "ptsim: %llds: %zu of %zu done, %s at %.0f %%\n", static_cast<long long>(elapsed), done_,
                 runs_, what_.c_str(), 100.0 * static_cast<double>(now) / static_cast<double>(duration_));
}

void print(const std::vector<Record> &records)
{
    for (const Record &record : records)
        std::printf("%-48s %14.6g %s%s%s\n", record.name.c_str(), record.value, record.unit.c_str(),
                    record.against.empty() ? "" : ", against ", record.against.c_str());
}

void write_records(const std::filesystem::path &file, const std::vector<Record> &records, const std::string &command)
{
    std::ofstream stream = open(file);
    stream << std::setprecision(10) << "[";
    const char *separator = "\n";
    for (const Record &record : records) {
        stream << separator << "  {\n    \"name\": " << quoted(record.name) << ",\n    \"value\": ";
        if (std::isfinite(record.value))
            stream << record.value;
        else
            stream << "null";
        stream << ",\n    \"unit\": " << quoted(record.unit) << ",\n    \"against\": " << quoted(record.against)
               << ",\n    \"command\": " << quoted(command) << "\n  }";
        separator = ",\n";
    }
    stream << "\n]\n";
    close(stream, file);
}

void write_lags(const std::filesystem::path &file, const std::vector<Lag> &lags)
{
    std::ofstream stream = open(file);
    for (const Lag &lag : lags) {
        stream << static_cast<double>(lag.at) / kSecond;
        for (double ns : lag.ns)
            stream << ' ' << ns / kMs;
        stream << '\n';
    }
    close(stream, file);
}

} // namespace ptsim
