// SPDX-License-Identifier: MIT
#include "libptsched/client/device_name.hpp"

#include <ptsched/base/fd.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <strings.h>
#include <unistd.h>

namespace ptsched {
namespace {

constexpr char kGpus[] = "/proc/driver/nvidia/gpus";

/* Without the standard library's streams and folders, which would make up most of what a program is preloaded with. */
std::string text_of(const std::string &path)
{
    std::string text;
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char part[1024];
    ssize_t got = 0;
    while (fd && ((got = read(fd.get(), part, sizeof(part))) > 0 || (got < 0 && errno == EINTR)))
        text.append(part, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

/* What the line that begins with @title says; empty: there is none. */
std::string information_of(const std::string &address, const std::string &title)
{
    std::string name = address;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string information = "\n" + text_of(std::string(kGpus) + "/" + name + "/information");
    std::size_t line = information.find("\n" + title);
    if (line == std::string::npos)
        return {};
    std::size_t start = line + 1 + title.size();
    std::string value = information.substr(start, information.find('\n', start) - start);
    start = value.find_first_not_of(" \t\r");
    return start == std::string::npos ? std::string()
                                      : value.substr(start, value.find_last_not_of(" \t\r") + 1 - start);
}

} // namespace

std::string uuid_of_address(const std::string &address)
{
    std::string uuid = information_of(address, "GPU UUID:");
    /* Before its first use a device shows question marks. */
    return uuid.compare(0, 4, "GPU-") == 0 && uuid.find('?') == std::string::npos ? uuid : std::string();
}

std::optional<unsigned> minor_of_address(const std::string &address)
{
    std::string minor = information_of(address, "Device Minor:");
    unsigned number = 0;
    auto [end, error] = std::from_chars(minor.data(), minor.data() + minor.size(), number);
    if (error != std::errc() || end != minor.data() + minor.size())
        return std::nullopt;
    return number;
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
