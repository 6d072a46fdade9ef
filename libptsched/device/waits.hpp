/* SPDX-License-Identifier: MIT */
/* How threads of this process wait for GPUs. */
#ifndef PTSCHED_DEVICE_WAITS_HPP
#define PTSCHED_DEVICE_WAITS_HPP

namespace ptsched::device {

/*
 * They sleep, and are woken a little later; without that the driver mostly has each look all the time. Of devices that
 * are looked for later: to be called before.
 */
void sleep_in_waits();

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_WAITS_HPP */
