// SPDX-License-Identifier: MIT
#include "libptsched/rm/rm_channels.hpp"

#include "libptsched/rm/rm_abi.h"

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

std::string in_words(int status)
{
    char text[64];
    if (status < 0)
        return "the driver does not take the call";
    std::snprintf(text, sizeof(text), "the driver answers 0x%x", status);
    return text;
}

namespace {

/* At most disable_channels_max of them; returns as control(). */
int switch_at_once(int fd, std::uint32_t client, std::uint32_t subdevice, std::span<const std::uint32_t> channels,
                   bool off)
{
    DisableChannels call{};
    call.disable = off;
    call.count = static_cast<std::uint32_t>(channels.size());
    std::fill_n(call.clients, channels.size(), client);
    std::copy(channels.begin(), channels.end(), call.channels);
    return control(fd, client, subdevice, disable_channels, &call, sizeof(call));
}

/* Zero if the driver took any. */
int switch_singly(int fd, std::uint32_t client, std::uint32_t subdevice, std::span<const std::uint32_t> channels,
                  bool off)
{
    int refused = 0;
    bool taken = false;
    for (std::size_t i = 0; i < channels.size(); i++) {
        int status = switch_at_once(fd, client, subdevice, channels.subspan(i, 1), off);
        taken |= !status;
        refused = refused ? refused : status;
    }
    return taken ? 0 : refused;
}

/*
 * The same, also if one of them is just being freed by another thread. (Then 580.159.04 answers 0x21 and has switched
 * the others.) That some of them have been taken off already is undone first, so that each is taken off once.
 */
int switch_known(int fd, std::uint32_t client, std::uint32_t subdevice, std::span<const std::uint32_t> channels,
                 bool off)
{
    if (!switch_at_once(fd, client, subdevice, channels, off))
        return 0;
    int status = switch_singly(fd, client, subdevice, channels, false);
    return off ? switch_singly(fd, client, subdevice, channels, true) : status;
}

} // namespace

std::string switch_channels(int fd, std::uint32_t client, std::uint32_t subdevice,
                            std::span<const std::uint32_t> channels, bool off)
{
    int result = 0;
    while (!channels.empty()) {
        auto some = channels.first(std::min<std::size_t>(channels.size(), disable_channels_max));
        channels = channels.subspan(some.size());
        int status = switch_known(fd, client, subdevice, some, off);
        result = result ? result : status;
    }
    return result ? in_words(result) : "";
}

} // namespace ptsched::rm
