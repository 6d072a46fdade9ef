// SPDX-License-Identifier: MIT
#include "libptsched/spmd/roofline/host.hpp"

#include <algorithm>
#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

namespace ptsched::spmd::model {

namespace {

/* What is behind the colon in the first line that begins so; empty if there is none. */
std::string value_in(const char *file, const std::string &name)
{
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const std::size_t colon = line.find(':');
        if (line.compare(0, name.size(), name) || colon == std::string::npos)
            continue;
        const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string::npos ? "" : line.substr(begin);
    }
    return {};
}

} // namespace

std::string cpu_model()
{
    const std::string model = value_in("/proc/cpuinfo", "model name");
    utsname name{};
    if (model.empty() && !uname(&name))
        return name.machine;
    return model;
}

std::string host_name()
{
    utsname name{};
    return uname(&name) ? "" : name.nodename;
}

std::string gpu_driver()
{
    std::string version;
    std::ifstream("/sys/module/nvidia/version") >> version;
    return version;
}

std::size_t buffer_bytes()
{
    constexpr std::size_t least = std::size_t{16} << 20, usual = std::size_t{256} << 20;
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const std::string available = value_in("/proc/meminfo", "MemAvailable");
    const std::size_t quarter = available.empty() ? usual : std::stoull(available) * 1024 / 4;
    const std::size_t wanted = std::max(usual, cache > 0 ? 8 * static_cast<std::size_t>(cache) : 0);
    return std::max(least, std::min(wanted, quarter)) / 4096 * 4096;
}

} // namespace ptsched::spmd::model
