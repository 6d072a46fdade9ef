// SPDX-License-Identifier: MIT
/* Which scheduler to talk to, and about which device. */
#include "tools/ptsched/scheduler.hpp"

#include "libptsched/client/broker_protocol.h"
#include "tools/ptsched/format.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <strings.h>

namespace ptsched {

namespace {

std::string environment_or(const char *name, const char *fallback)
{
    const char *value = std::getenv(name);
    return value && *value ? value : fallback;
}

/* "17:00.0" is short for "0000:17:00.0". */
bool same_address(const std::string &pci, const std::string &name)
{
    return strcasecmp(pci.c_str(), name.c_str()) == 0 || strcasecmp(pci.c_str(), ("0000:" + name).c_str()) == 0;
}

} // namespace

std::string device_node()
{
    return environment_or("PTSCHED_DEVICE_NODE", "/dev/" PTSCHED_NODE_NAME);
}

std::string broker_socket()
{
    return environment_or("PTSCHED_SOCKET", PTSCHED_BROKER_SOCKET);
}

std::unique_ptr<Scheduler> open_scheduler(const Choice &choice)
{
    if (choice.module)
        return open_module();
    if (!choice.broker.empty())
        return open_broker(choice.broker);

    std::string problem;
    try {
        return open_module();
    } catch (const Error &error) {
        problem = error.what();
    }
    try {
        return open_broker(broker_socket());
    } catch (const Error &error) {
        throw Error("no scheduler here: " + problem + "; " + error.what() +
                    ". Load the module (modprobe ptsched) or start the broker (ptschedd); "
                    "\"ptsched doctor\" says more");
    }
}

const Device &find_device(const std::vector<Device> &devices, const std::string &name)
{
    std::uint32_t number = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    bool is_number = error == std::errc() && end == name.data() + name.size();

    auto found = std::find_if(devices.begin(), devices.end(), [&](const Device &device) {
        return is_number ? device.id == number
                         : same_address(device.pci, name) || (!device.uuid.empty() && device.uuid == name);
    });
    if (found != devices.end())
        return *found;

    std::string known;
    for (const Device &device : devices)
        known += (known.empty() ? "" : ", ") + std::to_string(device.id) + " (" + device.pci + ")";
    throw Error("no device \"" + name + "\"; give a number, PCI address or UUID of: " +
                (known.empty() ? "none, the scheduler knows no device" : known));
}

void throw_refusal(int error, const std::string &text, std::uint32_t attribute)
{
    std::string setting = setting_name(attribute);
    std::string message = "refused by the scheduler: ";

    if (text.find(setting) == std::string::npos)
        message += setting + ": ";
    message += text.empty() ? strerror(error) : text;
    if (error == EPERM)
        message += text.empty() ? "; changing settings needs CAP_SYS_ADMIN (run as root)" : "";
    throw Refused(message, error);
}

} // namespace ptsched
