/* SPDX-License-Identifier: MIT */
/*
 * Kernels in an address space of their own, where PTSCHED_VGPU_OWN_ADDRESSES is 1: each launch is a child of the
 * process, which has the device's memory at the ranges that were reserved, whatever the host has mapped there since.
 * What host and kernels have in common is memory that is shared with the child: the driver's, and modules' variables.
 */
#ifndef VGPU_LIBCUDA_OWN_ADDRESSES_H
#define VGPU_LIBCUDA_OWN_ADDRESSES_H

#include "tests/vgpu/libcuda/grid.h"
#include "tests/vgpu/libcuda/runtime.h"

namespace vgpu {

/* At the first call of the driver, which reads the environment; false if there is no memory for it. */
bool begin_own_addresses();

/* Of the memory that kernels have in common with the host, whole pages of zeros; null if there is no more. */
void *take_common(std::size_t bytes);
void give_common_back(void *memory, std::size_t bytes);

/* Variables of a module that was loaded just now, and has not run: kernels to come have them in common. */
bool share_variables(void *module);

/* Runs it in a child. If that touches what the device has no memory at, it has trapped. Takes the driver's lock. */
vgpu_sum run_apart(CUdevice device, const GridCall &call);

/* Memory of a device at an address that was reserved: what kernels find there, those that run already included. */
struct DevicePiece {
    std::uintptr_t address;
    std::size_t bytes;
    int fd;
    std::size_t offset;
};
enum DeviceRights { no_rights = 0, read_right = 1, write_right = 2 };
/* With the rights of one more device. False if there are too many pieces. */
bool show_piece(const DevicePiece &piece, CUdevice device, unsigned int rights);
void hide_piece(std::uintptr_t address);

/* Where nothing of the host's is to be seen by kernels: virtual_memory.cpp. */
std::vector<std::pair<std::uintptr_t, std::size_t>> reserved_ranges();
/* Where the host finds what the device has at an address: the same, but in a reserved range. */
char *behind(char *address);

} // namespace vgpu

#endif /* VGPU_LIBCUDA_OWN_ADDRESSES_H */
