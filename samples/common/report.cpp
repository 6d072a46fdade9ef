// SPDX-License-Identifier: MIT
#include "samples/common/report.hpp"

#include <ptsched/device/device.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace ptsched::samples {

namespace {

using nlohmann::ordered_json;

ordered_json read_records(const std::string &path)
{
    if (!std::filesystem::exists(path))
        return ordered_json::array();
    std::ifstream file(path);
    const ordered_json records = ordered_json::parse(file, nullptr, false);
    if (!records.is_array())
        throw device::Error(path + " has no array of records: name another file, or remove it");
    return records;
}

} // namespace

double percentile(std::vector<double> values, double share)
{
    const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

Spread spread_of(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return {values[values.size() / 2], values.front(), values.back()};
}

double best_of(const Times &times, const std::string &begin)
{
    double best = std::numeric_limits<double>::infinity();
    for (const auto &[name, values] : times)
        if (name.starts_with(begin))
            best = std::min(best, spread_of(values).median);
    return best;
}

void Report::record(const std::string &name, const Spread &spread, const std::string &unit, const std::string &against)
{
    std::printf("%-36s %10.3f  (%.3f to %.3f) %s%s%s\n", name.c_str(), spread.median, spread.least, spread.most,
                unit.c_str(), against.empty() ? "" : ", ", against.c_str());
    std::fflush(stdout);
    records_.push_back({name, unit, against, spread});
}

void Report::write_json(const std::string &path) const
{
    if (records_.empty())
        return;
    ordered_json all = read_records(path);
    for (const Record &record : records_) {
        const ordered_json entry{{"name", group_ + '/' + record.name},
                                 {"value", record.spread.median},
                                 {"least", record.spread.least},
                                 {"most", record.spread.most},
                                 {"unit", record.unit},
                                 {"against", record.against},
                                 {"command", command_}};
        const auto same = std::find_if(all.begin(), all.end(),
                                       [&](const auto &one) { return one.value("name", "") == entry["name"]; });
        if (same == all.end())
            all.push_back(entry);
        else
            *same = entry;
    }
    std::ofstream file(path);
    file << all.dump(1) << '\n';
    file.close();
    if (!file)
        throw device::Error("cannot write " + path);
}

} // namespace ptsched::samples
