/* SPDX-License-Identifier: MIT */
/* What libptask has to say that is no error of a call: see device/log.hpp. */
#ifndef PTSCHED_PTASK_LOG_HPP
#define PTSCHED_PTASK_LOG_HPP

#include <ptsched/device/log.hpp>

namespace ptsched::ptask {

using device::Log;
using device::set_log;

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_LOG_HPP */
