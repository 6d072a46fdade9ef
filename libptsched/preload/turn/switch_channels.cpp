// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/switch_channels.hpp"

#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/turn/attachment.hpp"
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/preload/turn/helper.hpp"

#include <cerrno>
#include <cstring>

namespace ptsched::preload {

std::string switch_channels(const Attachment &device, bool off, std::uint64_t turn)
{
    bool helped = helper->poll_fd() >= 0;
    int error = helper->set(device, off, turn);
    if (!error)
        return "";
    if (error != -ENOTCONN)
        debug("%s: ptschedd cannot switch the channels: %s", device.address(), std::strerror(-error));
    helper->leave();
    /* It may have taken them off before it failed, and off twice is not on again at once. */
    if (off && helped)
        channels->switch_on(device.address());
    return off ? channels->switch_off(device.address()) : channels->switch_on(device.address());
}

} // namespace ptsched::preload
