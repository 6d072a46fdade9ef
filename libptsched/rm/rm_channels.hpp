/* SPDX-License-Identifier: MIT */
/*
 * Calls to the resource manager about a process's channels, on that process's own control file or a duplicate of it.
 *
 * A client handle means something only on the file on which it was made: the driver refuses it on any other. Channels
 * are therefore named by their own client's handle alone, which is never taken from elsewhere.
 */
#ifndef PTSCHED_RM_CHANNELS_HPP
#define PTSCHED_RM_CHANNELS_HPP

#include <cstdint>
#include <span>
#include <string>

namespace ptsched::rm {

/* The ioctl() to call the driver with; whoever links this file brings it. */
int driver_ioctl(int fd, unsigned long request, void *argument);

/* Whether @fd is the driver's control device. */
bool is_control_device(int fd);

/* NV_ESC_RM_CONTROL. Zero, or the driver's status, or -1 where there was none. */
int control(int fd, std::uint32_t client, std::uint32_t object, std::uint32_t command, void *params,
            std::uint32_t size);

/* What control() returned, as long as that is not zero. */
std::string in_words(int status);

/* The PCI address of the GPU of a subdevice; empty: the driver does not say. CUDA's ordinals need not be the same. */
std::string pci_address(int fd, std::uint32_t client, std::uint32_t subdevice);

/*
 * Takes @channels of @client off the hardware, with what runs on them, or puts them back. The driver counts: what is
 * taken off twice is on again when it was put back twice (H200, 580.159.04). What is on already stays on. Those that
 * the driver refuses are taken for gone, unless it refuses all. Blocks for as long as the driver takes. Returns an
 * empty string, or why it did not work; then some may be off.
 */
std::string switch_channels(int fd, std::uint32_t client, std::uint32_t subdevice,
                            std::span<const std::uint32_t> channels, bool off);

} // namespace ptsched::rm

#endif
