/* SPDX-License-Identifier: MIT */
/* Unlocked, as everything else that is said of locks, is the base's. */
#ifndef PTSCHED_PTASK_RUN_UNLOCKED_HPP
#define PTSCHED_PTASK_RUN_UNLOCKED_HPP

#include "libptsched/base/unlocked.hpp"

#endif /* PTSCHED_PTASK_RUN_UNLOCKED_HPP */
