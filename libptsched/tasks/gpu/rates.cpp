// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/rates.hpp"

#include <ptsched/device/rates.hpp>

namespace ptsched::tasks {

namespace {

/* Where nothing could be measured. */
constexpr double usual_rate = 1e10;

double known(double rate)
{
    return rate > 0 ? rate : usual_rate;
}

} // namespace

Rates measure_rates(const std::vector<device::Device *> &devices)
{
    Rates rates;
    rates.from_host.assign(devices.size(), usual_rate);
    rates.between.assign(devices.size() * devices.size(), usual_rate);
    if (devices.size() == 1)
        return rates;
    for (std::size_t to = 0; to < devices.size(); to++) {
        rates.from_host[to] = known(device::rates_of(*devices[to]).to_device.median);
        for (std::size_t from = 0; from < devices.size(); from++)
            if (devices[from] != devices[to])
                rates.between[from * devices.size() + to] =
                    known(device::copy_rate(*devices[from], *devices[to]).median);
    }
    return rates;
}

} // namespace ptsched::tasks
