// SPDX-License-Identifier: MIT
/*
 * What the interposer adds to a submission inside a turn, alone and while others want the device, the driver's own work
 * excluded. Prints; asserts nothing.
 */
#include "tests/preload/hand_driver.h"
#include "tests/preload/scripted_client.h"
#include "tests/preload/under_preload.h"

#include <algorithm>
#include <ctime>

extern "C" {
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult hand_use_device(CUdevice);
}

namespace {

using Launch = decltype(&cuLaunchKernel);

double seconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/* The best of several rounds: what the call costs when nothing disturbs it. */
double ns_per_call(Launch launch, CUstream stream, int calls)
{
    constexpr int rounds = 20;
    double best = 1e9;
    for (int round = 0; round < rounds; round++) {
        double begin = seconds();
        for (int i = 0; i < calls; i++)
            launch(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
        best = std::min(best, (seconds() - begin) * 1e9 / calls);
    }
    return best;
}

} // namespace

int main(int, char **argv)
{
    std::string folder = program_folder() / "preload";
    run_under(argv, folder + "/real-time/libptsched-preload.so", folder);
    auto hand = static_cast<const struct hand_controls *>(dlsym(RTLD_DEFAULT, "hand_controls"));
    hand_use_device(0);
    hand->do_nothing(1);
    CUstream stream;
    cuStreamCreate(&stream, 0);
    auto print = [&](const char *name, CUstream handle, int calls) {
        double bare = ns_per_call(hand->launch, handle, calls), gated = ns_per_call(cuLaunchKernel, handle, calls);
        std::printf("{\"name\": \"gate/%s\", \"value\": %.1f, \"unit\": \"ns\", \"against\": \"%.1f ns without\", "
                    "\"command\": \"bench-gate\"}\n",
                    name, gated - bare, bare);
    };
    print("stream", stream, 200000);
    print("default-stream", nullptr, 200000);
    /* Kernels that take no time are well known at once. */
    hand->set_duration_us(0);
    auto scheduler = static_cast<const struct scripted_scheduler *>(dlsym(RTLD_DEFAULT, "scripted_scheduler"));
    scheduler->change(PTSCHED_STATE_CONTENDED, 0);
    scheduler->await_acknowledged();
    print("beside-lighter", stream, 200000);
    scheduler->change(PTSCHED_STATE_EXACT, 0);
    scheduler->await_acknowledged();
    print("beside-equals", stream, 20000);
    return 0;
}
