// SPDX-License-Identifier: MIT
#include "tools/ptschedd/device_address.hpp"

#include "libptsched/client/device_name.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <linux/ptsched.h>
#include <regex>
#include <strings.h>

namespace ptsched {

std::string canonical_address(const std::string &name)
{
    static const std::regex form("([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([01][0-9a-fA-F])\\.([0-7])");
    if (!std::regex_match(name, form))
        return {};
    unsigned domain, bus, slot, function;
    if (sscanf(name.c_str(), "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
        return {};
    char address[PTSCHED_NAME_LEN];
    snprintf(address, sizeof(address), "%04x:%02x:%02x.%x", domain, bus, slot, function);
    return address;
}

bool is_uuid(const std::string &name)
{
    static const std::regex form("(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", std::regex::icase);
    return std::regex_match(name, form);
}

bool is_instance(const std::string &name)
{
    return is_uuid(name) && strncasecmp(name.c_str(), "MIG-", 4) == 0;
}

std::vector<DeviceName> find_devices(bool with_nodes)
{
    std::vector<DeviceName> found;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator("/sys/bus/pci/devices", error)) {
        std::ifstream file(entry.path() / "class");
        std::string pci_class;
        /* 0x03....: display controllers. */
        if (!std::getline(file, pci_class) || pci_class.rfind("0x03", 0) != 0)
            continue;
        std::string address = canonical_address(entry.path().filename());
        if (address.empty())
            continue;
        auto minor = with_nodes ? minor_of_address(address) : std::nullopt;
        found.push_back({address, uuid_of_address(address), minor ? PTSCHED_NODE(kNvidiaMajor, *minor) : 0});
    }
    std::sort(found.begin(), found.end(),
              [](const DeviceName &a, const DeviceName &b) { return a.address < b.address; });
    return found;
}

std::vector<DeviceName> test_devices(unsigned count)
{
    std::vector<DeviceName> made;
    for (unsigned i = 1; i <= count; i++) {
        char address[PTSCHED_NAME_LEN], uuid[PTSCHED_NAME_LEN];
        snprintf(address, sizeof(address), "ffff:%02x:00.0", i);
        snprintf(uuid, sizeof(uuid), "GPU-00000000-0000-0000-0000-%012x", i);
        made.push_back({address, uuid, 0});
    }
    return made;
}

} // namespace ptsched
