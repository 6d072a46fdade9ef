// SPDX-License-Identifier: MIT
#include "libptsched/client/device_node.hpp"

#include "libptsched/client/device_name.hpp"

#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>

namespace ptsched {
namespace {

constexpr char kNode[] = "nvidia";

bool is_node(const char *name)
{
    std::size_t prefix = strlen(kNode);
    return strncmp(name, kNode, prefix) == 0 && name[prefix] && !name[prefix + strspn(name + prefix, "0123456789")];
}

bool try_node(const std::string &name, const std::function<bool(int fd)> &suffices)
{
    UniqueFd fd = above_streams(open(("/dev/" + name).c_str(), O_RDWR | O_CLOEXEC));
    return fd && suffices(fd.get());
}

} // namespace

void try_nodes(const std::string &device, const std::function<bool(int fd)> &suffices)
{
    std::string address = device.compare(0, 4, "GPU-") == 0 ? address_of_uuid(device) : device;
    if (auto minor = minor_of_address(address)) {
        try_node(kNode + std::to_string(*minor), suffices);
        return;
    }
    /* The driver does not tell: in a container it may not be seen, and of instances it says nothing there. */
    std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir("/dev"), closedir);
    while (const dirent *entry = folder ? readdir(folder.get()) : nullptr)
        if (is_node(entry->d_name) && try_node(entry->d_name, suffices))
            return;
}

} // namespace ptsched
