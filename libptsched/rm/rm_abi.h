/* SPDX-License-Identifier: MIT */
/*
 * What ptsched needs of the resource manager's interface, the ioctls of /dev/nvidiactl.
 *
 * Names, numbers and layouts are those of NVIDIA's open-gpu-kernel-modules, 580.159.04: nv_escape.h, nvos.h,
 * class/cl*.h, ctrl/ctrl0000/ctrl0000gpu.h, ctrl/ctrl2080/ctrl2080gpu.h, ctrl/ctrl2080/ctrl2080fifo.h and
 * ctrl/ctrla06c.h.
 */
#ifndef PTSCHED_RM_ABI_H
#define PTSCHED_RM_ABI_H

#include <cstddef>
#include <cstdint>
#include <sys/ioctl.h>

namespace ptsched::rm {

/* The control device: major 195, minor 255. */
inline constexpr unsigned device_major = 195, control_minor = 255;

inline constexpr unsigned ioctl_type = 'F';
inline constexpr unsigned esc_free = 0x29, esc_control = 0x2a, esc_alloc = 0x2b;

/* NVOS00_PARAMETERS */
struct Free {
    std::uint32_t root, parent, object, status;
};

/* NVOS54_PARAMETERS */
struct Control {
    std::uint32_t client, object, command, flags;
    std::uint64_t params;
    std::uint32_t params_size, status;
};

/* The common beginning of NVOS21_PARAMETERS (32 bytes) and NVOS64_PARAMETERS (48 bytes), where the status is. */
struct Alloc {
    std::uint32_t root, parent, object, object_class;
    std::uint64_t params;
};
inline constexpr std::size_t alloc21_size = 32, alloc21_status = 28, alloc64_size = 48, alloc64_status = 40;

inline constexpr std::uint32_t class_device = 0x0080, class_subdevice = 0x2080, class_channel_group = 0xa06c;

/* *_CHANNEL_GPFIFO_A, by generation. */
inline constexpr std::uint32_t channel_classes[] = {
    0xc36f, /* Volta */
    0xc46f, /* Turing */
    0xc56f, /* Ampere, Ada */
    0xc86f, /* Hopper */
    0xc96f, /* Blackwell A */
    0xca6f, /* Blackwell B */
};

/* NV_CHANNEL_GROUP_ALLOCATION_PARAMETERS, as far as the engine. */
struct ChannelGroup {
    std::uint32_t error_object, ecc_error_object, address_space, engine;
};
/* NV2080_ENGINE_TYPE_GR0 to GR7: compute and graphics. */
inline constexpr std::uint32_t engine_first_graphics = 1, engine_last_graphics = 8;

/* NV2080_CTRL_CMD_GPU_GET_ID, on a subdevice */
inline constexpr std::uint32_t get_gpu_id = 0x20800142;
/* NV0000_CTRL_CMD_GPU_GET_PCI_INFO, on a client */
inline constexpr std::uint32_t get_pci_info = 0x21b;
struct PciInfo {
    std::uint32_t gpu_id, domain;
    std::uint16_t bus, slot;
};

/* NV2080_CTRL_CMD_FIFO_DISABLE_CHANNELS, on a subdevice: preempts what runs on them, and keeps them off or on. */
inline constexpr std::uint32_t disable_channels = 0x2080110b;
inline constexpr std::uint32_t disable_channels_max = 64;
struct DisableChannels {
    std::uint8_t disable;
    std::uint32_t count;
    std::uint8_t only_scheduling, rewind;
    alignas(8) std::uint64_t event;
    std::uint32_t clients[disable_channels_max];
    std::uint32_t channels[disable_channels_max];
};

/* NVA06C_CTRL_CMD_SET_TIMESLICE and GET_TIMESLICE, on a channel group */
inline constexpr std::uint32_t set_timeslice = 0xa06c0103, get_timeslice = 0xa06c0104;
struct Timeslice {
    std::uint64_t us;
};

static_assert(sizeof(Free) == 16 && sizeof(Control) == 32 && sizeof(Alloc) == 24 && sizeof(PciInfo) == 12);
static_assert(offsetof(DisableChannels, clients) == 24 && sizeof(DisableChannels) == 536);

} // namespace ptsched::rm

#endif
