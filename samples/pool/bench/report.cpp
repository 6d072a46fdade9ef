// SPDX-License-Identifier: MIT
#include "samples/pool/bench/bench.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ptsched::pool::bench {

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

void Report::record(const std::string &name, const Spread &spread, const std::string &unit, const std::string &against)
{
    std::printf("%-36s %10.3f  (%.3f to %.3f) %s%s%s\n", name.c_str(), spread.median, spread.least, spread.most,
                unit.c_str(), against.empty() ? "" : ", ", against.c_str());
    std::fflush(stdout);
    records_.push_back({name, unit, against, spread});
}

void Report::write_json(const std::string &path) const
{
    auto all = nlohmann::ordered_json::array();
    for (const Record &record : records_) {
        all.push_back({{"name", "pool/" + record.name},
                       {"value", record.spread.median},
                       {"least", record.spread.least},
                       {"most", record.spread.most},
                       {"unit", record.unit},
                       {"against", record.against},
                       {"command", command_}});
    }
    std::ofstream file(path);
    file << all.dump(1) << '\n';
    file.close();
    if (!file)
        throw Error("cannot write " + path);
}

} // namespace ptsched::pool::bench
