/* SPDX-License-Identifier: MIT */
/*
 * Clients of NVIDIA's Multi-Process Service. Their kernels run beside each other, and all of them share one channel
 * group: if the channel of one is taken off the hardware, nothing of the others runs either (H200, 580.159.04;
 * Documentation/drivers.rst).
 */
#ifndef PTSCHED_PRELOAD_TURN_MPS_HPP
#define PTSCHED_PRELOAD_TURN_MPS_HPP

namespace ptsched::preload {

/*
 * Whether this process is one, by whom its sockets lead to: no function of the driver says so. Good once the driver has
 * been initialised. Where the other side is in a pid namespace that cannot be seen from here, it is taken for the
 * server if programs find one here.
 */
bool is_mps_client();

} // namespace ptsched::preload

#endif
