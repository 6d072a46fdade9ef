/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_API_LOG_HPP
#define PTSCHED_PTASK_API_LOG_HPP

#include <ptsched/ptask/log.hpp>

namespace ptsched::ptask {

/* To where set_log() says. */
void log_line(const std::string &line) noexcept;

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_API_LOG_HPP */
