/* SPDX-License-Identifier: MIT */
/*
 * How fast devices are, measured: for who chooses between them, or divides work.
 *
 *	const double seconds = bytes / rates_of(gpu).to_device.median + operations / rates_of(gpu).arithmetic.median;
 */
#ifndef PTSCHED_DEVICE_RATES_HPP
#define PTSCHED_DEVICE_RATES_HPP

#include <ptsched/device/device.hpp>

#pragma GCC visibility push(default)

namespace ptsched::device {

/* Of several runs; per second. All 0 where it cannot be measured. */
struct Rate {
    double median = 0, lowest = 0, highest = 0;
};

struct Rates {
    Rate to_device, to_host; /* bytes that copies from and to pinned memory move; the host: as memory */
    Rate memory;             /* bytes that its processors or copy engines read and write, together */
    Rate arithmetic;         /* additions and multiplications of single precision, all processors together */
};

/*
 * Measured at the first call for a device, which takes some milliseconds, some tens for the host, and as much memory as
 * is free, up to 16 MiB; other work makes it slower, and the rates lower. Later calls return the same, which stays.
 * Thread-safe; who asks for a device that is being measured waits. Throws Error if the device's work fails: then the
 * next call measures again.
 */
const Rates &rates_of(Device &device);

/* Bytes a second from the memory of one device to that of another, by the way that datablocks take; likewise. */
Rate copy_rate(Device &from, Device &to);

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_RATES_HPP */
