/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_DEVICES_EXEMPT_HPP
#define PTSCHED_PTASK_DEVICES_EXEMPT_HPP

#include <ptsched/device/turns.hpp>

namespace ptsched::ptask {

using device::Exempt;

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_EXEMPT_HPP */
