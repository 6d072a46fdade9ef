/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SAMPLES_NULL_HPP
#define PTSCHED_SAMPLES_NULL_HPP

#include "libptsched/cuda/cuda_abi.h"

/* What every call does. */
extern "C" CUresult ptsched_null_call();
/* How often it was done. */
extern "C" unsigned long ptsched_null_calls();

#endif
