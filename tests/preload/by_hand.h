/* SPDX-License-Identifier: MIT */
/* For tests of the interposer against a scheduler and a driver that do what the test says. */
#ifndef TEST_PRELOAD_BY_HAND_H
#define TEST_PRELOAD_BY_HAND_H

#include "hand_driver.h"
#include "scripted_client.h"
#include "tap.h"
#include "under_preload.h"

#include <sys/wait.h>

#include <type_traits>

extern "C" {
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamSynchronize(CUstream);
CUresult hand_use_device(CUdevice);
}

inline const struct hand_controls *hand;
inline const struct scripted_scheduler *scheduler;

inline constexpr unsigned turn = PTSCHED_STATE_TURN, callback = PTSCHED_STATE_CALLBACK, wanted = PTSCHED_STATE_WANTED,
                          contended = PTSCHED_STATE_CONTENDED;

inline CUresult launch(CUstream stream = nullptr)
{
    return cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
}

inline unsigned long launches()
{
    return hand->calls("cuLaunchKernel");
}

inline CUstream new_stream()
{
    CUstream stream;
    cuStreamCreate(&stream, 0);
    return stream;
}

/* Ends the present turn, whatever it is, if it has not ended by itself. */
inline void give_back()
{
    hand->complete_by_itself(1);
    hand->complete_all();
    scheduler->take_back(0);
    scheduler->change(0, wanted | contended);
    scheduler->await_acknowledged();
}

enum class Found { right, wrong, too_late };

/* What a child finds, whose contexts are new; as often as one that had no CPU for long has found it too late to tell. */
template <class Body> void in_a_child(Body body)
{
    constexpr int most = 20;
    auto wait_status = [](Found found) { return static_cast<int>(found) << 8; };
    int status = wait_status(Found::too_late);
    for (int i = 0; i < most && status == wait_status(Found::too_late); i++) {
        std::fflush(stdout);
        pid_t child = fork();
        if (!child) {
            Found found;
            if constexpr (std::is_same_v<decltype(body()), bool>)
                found = body() ? Found::right : Found::wrong;
            else
                found = body();
            std::fflush(stdout);
            _exit(static_cast<int>(found));
        }
        waitpid(child, &status, 0);
    }
    CHECK_EQ(status, wait_status(Found::right));
}

/* Runs the program again with both of them; returns in that one, with a device in use. */
inline void run_by_hand(char **argv)
{
    std::string folder = program_folder() / "preload";
    run_under(argv, folder + "/libptsched-preload.so", folder);
    scheduler = static_cast<const struct scripted_scheduler *>(dlsym(RTLD_DEFAULT, "scripted_scheduler"));
    hand = static_cast<const struct hand_controls *>(dlsym(RTLD_DEFAULT, "hand_controls"));
    hand_use_device(0);
}

#endif
