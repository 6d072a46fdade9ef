/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_INSIDE_ROWS_HPP
#define PTSCHED_DEVICE_INSIDE_ROWS_HPP

#include <ptsched/device/device.hpp>

namespace ptsched::device {

/* Queue::upload() and download() of rows, which are one behind the other on the device, whose queue it is. */
void upload_rows(Device &device, Queue &queue, Address to, const void *from, const Rows &rows);
void download_rows(Device &device, Queue &queue, void *to, Address from, const Rows &rows);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_INSIDE_ROWS_HPP */
