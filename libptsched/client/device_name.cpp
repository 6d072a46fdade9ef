// SPDX-License-Identifier: MIT
#include "device_name.hpp"

#include "fd.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <strings.h>
#include <unistd.h>

namespace ptsched {
namespace {

constexpr char kGpus[] = "/proc/driver/nvidia/gpus";

// Without the standard library's streams and folders, which would make up most of what a program is preloaded with.
std::string text_of(const std::string &path)
{
    std::string text;
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char part[1024];
    ssize_t got = 0;
    while (fd && ((got = read(fd.get(), part, sizeof(part))) > 0 || (got < 0 && errno == EINTR)))
        text.append(part, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

} // namespace

std::string uuid_of_address(const std::string &address)
{
    std::string name = address;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string information = "\n" + text_of(std::string(kGpus) + "/" + name + "/information");
    size_t line = information.find("\nGPU UUID:");
    if (line == std::string::npos)
        return {};
    std::string value = information.substr(line + 1, information.find('\n', line + 1) - line - 1);
    size_t start = value.find("GPU-", 4);
    if (start == std::string::npos)
        return {};
    std::string uuid = value.substr(start, value.find_last_not_of(" \t\r") + 1 - start);
    // Before its first use a device shows question marks.
    return uuid.find('?') == std::string::npos ? uuid : std::string();
}

std::string address_of_uuid(const std::string &uuid)
{
    std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir(kGpus), closedir);
    while (const dirent *entry = folder ? readdir(folder.get()) : nullptr) {
        if (entry->d_name[0] != '.' && strcasecmp(uuid_of_address(entry->d_name).c_str(), uuid.c_str()) == 0)
            return entry->d_name;
    }
    return {};
}

} // namespace ptsched
