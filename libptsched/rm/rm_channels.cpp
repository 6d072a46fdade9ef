/* SPDX-License-Identifier: MIT */
#include "rm_channels.hpp"

#include "rm_abi.h"

#include <algorithm>
#include <cstdio>

namespace ptsched::rm {

int control(int fd, std::uint32_t client, std::uint32_t object, std::uint32_t command, void *params, std::uint32_t size)
{
    Control call{client, object, command, 0, reinterpret_cast<std::uintptr_t>(params), size, 0};
    if (!is_control_device(fd) || driver_ioctl(fd, _IOWR(ioctl_type, esc_control, Control), &call) < 0)
        return -1;
    return static_cast<int>(call.status);
}

std::string pci_address(int fd, std::uint32_t client, std::uint32_t subdevice)
{
    PciInfo info{};
    char address[32];
    if (control(fd, client, subdevice, get_gpu_id, &info.gpu_id, sizeof(info.gpu_id)) ||
        control(fd, client, client, get_pci_info, &info, sizeof(info)))
        return {};
    std::snprintf(address, sizeof(address), "%04x:%02x:%02x.0", info.domain, info.bus, info.slot);
    return address;
}

std::string switch_channels(int fd, std::uint32_t client, std::uint32_t subdevice,
                            std::span<const std::uint32_t> channels, bool off)
{
    while (!channels.empty()) {
        auto some = channels.first(std::min<std::size_t>(channels.size(), disable_channels_max));
        channels = channels.subspan(some.size());
        DisableChannels call{};
        call.disable = off;
        call.count = static_cast<std::uint32_t>(some.size());
        std::fill_n(call.clients, some.size(), client);
        std::copy(some.begin(), some.end(), call.channels);
        int status = control(fd, client, subdevice, disable_channels, &call, sizeof(call));
        if (status < 0)
            return "the driver does not take the call";
        char text[64];
        std::snprintf(text, sizeof(text), "the driver answers 0x%x", status);
        if (status)
            return text;
    }
    return {};
}

} // namespace ptsched::rm
