/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_INTERNAL_LOG_HPP
#define PTSCHED_DEVICE_INTERNAL_LOG_HPP

#include <ptsched/device/log.hpp>

namespace ptsched::device {

/* To where set_log() says. */
void log_line(const std::string &line) noexcept;

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_INTERNAL_LOG_HPP */
