/* SPDX-License-Identifier: MIT */
/* For tests of programs that are taken off the virtual GPU in the middle of their work. */
#ifndef PTSCHED_TEST_PREEMPTIBLE_H
#define PTSCHED_TEST_PREEMPTIBLE_H

#include "tests/sanitizers.h"
#include "tests/preload/world.h"

/* Lighter than the other, without being starved of the processor on a busy machine. */
inline constexpr int lighter = 5;

/* clang's thread sanitizer has an ioctl() in the program itself, which comes before any preloaded one. */
#ifdef PTSCHED_TEST_TSAN
inline constexpr bool preload_sees_ioctl = false;
#else
inline constexpr bool preload_sees_ioctl = true;
#endif

/* What the virtual GPU knows of a process; null: nothing. */
inline nlohmann::json owner(pid_t pid)
{
    auto truth = world->truth();
    for (const auto &entry : truth["owners"])
        if (entry["pid"] == pid)
            return entry;
    return {};
}

/* An inversion-client checks the result of every kernel. */
inline std::vector<std::string> checked_client(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {build / "vgpu/inversion-client", "--module", build / "vgpu/kernels.so",
                                         "--seconds", "3600", "--kernel-us"});
    return arguments;
}

#endif
