// SPDX-License-Identifier: MIT
#include "device_name.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <strings.h>

namespace ptsched {
namespace {

constexpr char kGpus[] = "/proc/driver/nvidia/gpus";

} // namespace

std::string uuid_of_address(const std::string &address)
{
    std::string name = address;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::ifstream information(std::string(kGpus) + "/" + name + "/information");
    std::string line;
    while (std::getline(information, line)) {
        if (line.rfind("GPU UUID:", 0) != 0)
            continue;
        size_t start = line.find("GPU-", 4);
        if (start == std::string::npos)
            return {};
        std::string uuid = line.substr(start, line.find_last_not_of(" \t\r") + 1 - start);
        // Before its first use a device shows question marks.
        return uuid.find('?') == std::string::npos ? uuid : std::string();
    }
    return {};
}

std::string address_of_uuid(const std::string &uuid)
{
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(kGpus, error)) {
        std::string address = entry.path().filename();
        if (strcasecmp(uuid_of_address(address).c_str(), uuid.c_str()) == 0)
            return address;
    }
    return {};
}

} // namespace ptsched
