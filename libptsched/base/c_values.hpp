/* SPDX-License-Identifier: MIT */
/* What programs say through the C interfaces: names by numbers, times, which of the devices. */
#ifndef PTSCHED_BASE_C_VALUES_HPP
#define PTSCHED_BASE_C_VALUES_HPP

#include "libptsched/base/c_error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ptsched {

/* Of names that are 0, 1 ... @names. Throws Error that names the member of others. */
template <typename Enum> Enum value_of(unsigned value, unsigned names, const char *member)
{
    if (value >= names)
        throw Error(std::string(member) + " is " + std::to_string(value) + ", and can be 0 to " +
                    std::to_string(names - 1));
    return static_cast<Enum>(value);
}

/* Of what is 0 there the default stays. */
template <typename Member, typename Given> void set(Member &member, Given given)
{
    if (given)
        member = Member(given);
}

/* Negative: without an end. */
inline std::chrono::nanoseconds duration_of(std::int64_t nanoseconds)
{
    return nanoseconds < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(nanoseconds);
}

/* Those of @all that have these numbers; none if @numbers is null, which is said to be all of @user's. */
template <typename Device>
std::vector<Device *> devices_of(const std::vector<Device *> &all, const unsigned *numbers, std::size_t count,
                                 const std::string &user)
{
    std::vector<Device *> devices;
    if (numbers && !count)
        throw Error("devices has none: device_count is 0; with NULL the " + user + " has all");
    for (std::size_t i = 0; i < count; i++) {
        const unsigned number = (&needed(numbers, "devices"))[i];
        if (number >= all.size())
            throw Error("devices names GPU " + std::to_string(number) + ", and there are " +
                        std::to_string(all.size()) + ", from 0 on");
        devices.push_back(all[number]);
    }
    return devices;
}

} // namespace ptsched

#endif /* PTSCHED_BASE_C_VALUES_HPP */
