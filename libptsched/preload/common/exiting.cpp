// SPDX-License-Identifier: MIT
#include "libptsched/preload/common/exiting.hpp"

namespace ptsched::preload {

constinit std::atomic<bool> exiting{false};

} // namespace ptsched::preload
