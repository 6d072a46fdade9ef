// SPDX-License-Identifier: MIT
/*
 * A libcuda.so.1 with one GPU and calls that succeed at once and do nothing: what a program takes with it is what it
 * takes on the host. Those that have to give something back are in answers.cpp.
 */
#include "libptsched/device/driver.hpp"

#include "samples/ptask/paper/null/null.hpp"

#include <atomic>

namespace {

std::atomic<unsigned long> calls;

} // namespace

/* Counted as cheaply as one thread at a time needs it. */
CUresult ptsched_null_call()
{
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return CUDA_SUCCESS;
}

unsigned long ptsched_null_calls()
{
    return calls.load(std::memory_order_relaxed);
}

/* By all names that devices look up; a definition elsewhere takes precedence. */
#define PTSCHED_NULL_CALL(member, symbol) asm(".weak " #symbol "\n.set " #symbol ", ptsched_null_call");
PTSCHED_DEVICE_DRIVER(PTSCHED_NULL_CALL)
PTSCHED_DEVICE_DRIVER_GRAPHS(PTSCHED_NULL_CALL)
PTSCHED_NULL_CALL(init, cuInit)
