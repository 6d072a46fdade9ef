/* SPDX-License-Identifier: MIT */
/* Records that programs have added to a file. */
#ifndef SAMPLES_COMMON_VALUES_HPP
#define SAMPLES_COMMON_VALUES_HPP

#include <map>
#include <string>
#include <vector>

namespace ptsched::samples {

using Values = std::map<std::string, double>; /* by names */

/* Throws device::Error if there are none. */
Values read_values(const std::string &path);
/* Those whose names begin and end so, by what is between. */
Values values_that_end(const Values &values, const std::string &begin, const std::string &end);
/* Of at least one. */
double geometric_mean(const std::vector<double> &values);

} // namespace ptsched::samples

#endif /* SAMPLES_COMMON_VALUES_HPP */
