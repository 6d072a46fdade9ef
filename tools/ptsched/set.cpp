// SPDX-License-Identifier: MIT
/* ptsched set: settings of devices, weights of processes. */
#include "commands.hpp"
#include "units.hpp"

namespace ptsched {

int set(const SetOptions &options)
{
    /* What is wrong with the words is said before anything is asked of a scheduler. */
    std::optional<uint32_t> pid;
    uint32_t weight = 0;
    std::vector<Setting> settings;

    if (!options.pid.empty()) {
        pid = static_cast<uint32_t>(parse_integer("pid", options.pid, 1, INT32_MAX));
        weight = parse_weight(options.settings);
    } else {
        settings = parse_settings(options.settings);
    }

    auto scheduler = open_scheduler(options.choice);
    std::vector<Device> devices = scheduler->devices();
    std::optional<uint32_t> device;
    if (!options.device.empty())
        device = find_device(devices, options.device).id;
    if (devices.empty())
        throw Error("the scheduler at " + scheduler->path() + " knows no device: there is nothing to set");
    if (pid)
        scheduler->set_entity(*pid, weight, device);
    else
        scheduler->set_device(device, settings);
    return 0;
}

} // namespace ptsched
