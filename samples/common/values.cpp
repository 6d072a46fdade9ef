// SPDX-License-Identifier: MIT
#include "samples/common/values.hpp"

#include <ptsched/device/device.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ptsched::samples {

Values read_values(const std::string &path)
{
    std::ifstream file(path);
    const auto records = nlohmann::json::parse(file, nullptr, false);
    if (!records.is_array())
        throw device::Error(path + " has no array of records: the programs make one, with --json");
    Values values;
    for (const auto &record : records)
        values[record.at("name").get<std::string>()] = record.at("value").get<double>();
    return values;
}

Values values_that_end(const Values &values, const std::string &begin, const std::string &end)
{
    Values found;
    for (const auto &[name, value] : values)
        if (name.size() >= begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end))
            found[name.substr(begin.size(), name.size() - begin.size() - end.size())] = value;
    return found;
}

double geometric_mean(const std::vector<double> &values)
{
    double sum = 0;
    for (const double value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

} // namespace ptsched::samples
