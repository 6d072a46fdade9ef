// SPDX-License-Identifier: MIT
/* ptsched set: settings of devices, weights of processes and cgroups, shares of users. */
#include "libptsched/client/device_name.hpp"
#include "tools/ptsched/cgroups.hpp"
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/units.hpp"

#include <algorithm>

namespace ptsched {

namespace {

bool is_node(const Setting &setting)
{
    return setting.attribute == PTSCHED_A_NODE;
}

/* Each device has its own. One of which the driver does not tell stays as it was. */
void set_nodes(Scheduler &scheduler, const std::vector<Device> &devices, std::optional<std::uint32_t> only)
{
    bool found = false;

    for (const Device &device : devices) {
        auto minor = minor_of_address(device.pci);
        if (!minor || (only && device.id != *only))
            continue;
        found = true;
        scheduler.set_device(device.id, {{PTSCHED_A_NODE, PTSCHED_NODE(kNvidiaMajor, *minor)}});
    }
    if (only && !found)
        throw Error("the driver does not tell which node the device has; name it, as in node=/dev/nvidia0");
}

} // namespace

int set(const SetOptions &options)
{
    /* What is wrong with the words is said before anything is asked of a scheduler. */
    std::optional<std::uint32_t> pid, uid;
    UniqueFd cgroup;
    std::uint32_t weight = 0, share = 0;
    std::vector<Setting> settings;

    if (!options.pid.empty()) {
        pid = static_cast<std::uint32_t>(parse_integer("pid", options.pid, 1, INT32_MAX));
        weight = parse_weight(options.settings);
    } else if (!options.user.empty()) {
        uid = parse_user(options.user);
        share = parse_share(options.settings);
    } else if (!options.cgroup.empty()) {
        share = parse_cgroup_weight(options.settings);
        cgroup = open_cgroup(options.cgroup);
        if (!share)
            share = cpu_weight(cgroup, options.cgroup);
    } else {
        settings = parse_settings(options.settings);
    }
    auto node = std::find_if(settings.begin(), settings.end(), is_node);
    bool finds_nodes = node != settings.end() && node->value == node_auto;
    if (node != settings.end() && !finds_nodes && options.device.empty())
        throw Error("a node belongs to one device: name that with --device, or say node=auto", 2);
    if (finds_nodes)
        settings.erase(node);

    auto scheduler = open_scheduler(options.choice);
    std::vector<Device> devices = scheduler->devices();
    std::optional<std::uint32_t> device;
    if (!options.device.empty())
        device = find_device(devices, options.device).id;
    if (devices.empty())
        throw Error("the scheduler at " + scheduler->path() + " knows no device: there is nothing to set");
    if (pid)
        scheduler->set_entity(*pid, weight, device);
    else if (uid)
        scheduler->set_user(*uid, share, device);
    else if (cgroup)
        scheduler->set_cgroup(cgroup.get(), share, device);
    else if (!settings.empty())
        scheduler->set_device(device, settings);
    if (finds_nodes)
        set_nodes(*scheduler, devices, device);
    return 0;
}

} // namespace ptsched
