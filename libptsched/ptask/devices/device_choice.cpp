// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/device_choice.hpp"

#include <algorithm>
#include <strings.h>

namespace ptsched::ptask {

namespace {

using device::Device;
using device::Error;

const std::string opencl_prefix = "opencl:";

std::string describe(const std::vector<Device *> &devices, const std::string &prefix)
{
    std::string text;
    for (std::size_t i = 0; i < devices.size(); i++) {
        const std::string address = devices[i]->bus_address();
        text += (i ? ", " : "") + prefix + std::to_string(i) + (address.empty() ? "" : " or " + address) + " (" +
                devices[i]->name() + ")";
    }
    return text;
}

bool is_called(const Device &device, std::size_t number, const std::string &name)
{
    return name == std::to_string(number) || (!name.empty() && !strcasecmp(name.c_str(), device.bus_address().c_str()));
}

/* @names: without the prefix, which is that of all in the list. */
std::vector<Device *> chosen(const std::vector<Device *> &devices, const std::vector<std::string> &names,
                             const std::string &prefix)
{
    std::vector<bool> named(devices.size());
    std::vector<Device *> found;
    for (const std::string &name : names) {
        bool any = false;
        for (std::size_t i = 0; i < devices.size(); i++)
            if (is_called(*devices[i], i, name))
                any = named[i] = true;
        if (!any)
            throw Error("the graph's options name device " + prefix + name + ", and there are " +
                        describe(devices, prefix));
    }
    for (std::size_t i = 0; i < devices.size(); i++)
        if (named[i])
            found.push_back(devices[i]);
    if (found.empty())
        throw Error("the graph's options name other devices, and none of " + describe(devices, prefix));
    return found;
}

} // namespace

std::vector<Device *> chosen_gpus(const std::vector<Device *> &gpus, const std::vector<std::string> &names)
{
    std::vector<std::string> own;
    std::copy_if(names.begin(), names.end(), std::back_inserter(own),
                 [](const std::string &name) { return !name.starts_with(opencl_prefix); });
    return names.empty() ? gpus : chosen(gpus, own, "");
}

std::vector<Device *> chosen_opencl(const std::vector<Device *> &devices, const std::vector<std::string> &names)
{
    std::vector<std::string> own;
    for (const std::string &name : names)
        if (name.starts_with(opencl_prefix))
            own.push_back(name.substr(opencl_prefix.size()));
    return names.empty() ? devices : chosen(devices, own, opencl_prefix);
}

} // namespace ptsched::ptask
