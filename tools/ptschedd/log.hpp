/* SPDX-License-Identifier: MIT */
/* Messages to standard error, where the service manager keeps them. */
#ifndef PTSCHEDD_LOG_HPP
#define PTSCHEDD_LOG_HPP

namespace ptsched {

[[gnu::format(printf, 1, 2)]] void warn(const char *format, ...);
/* Only with PTSCHED_LOG=debug. */
[[gnu::format(printf, 1, 2)]] void debug(const char *format, ...);

} // namespace ptsched

#endif
