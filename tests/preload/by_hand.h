/* SPDX-License-Identifier: MIT */
/* For tests of the interposer against a scheduler and a driver that do what the test says. */
#ifndef TEST_PRELOAD_BY_HAND_H
#define TEST_PRELOAD_BY_HAND_H

#include "tests/hand_clock.h"
#include "tests/preload/hand_driver.h"
#include "tests/preload/scripted_client.h"
#include "tests/preload/under_preload.h"
#include "tests/vgpu/tap.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <utility>

extern "C" {
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult cuStreamCreate(CUstream *, unsigned);
CUresult cuStreamSynchronize(CUstream);
CUresult hand_use_device(CUdevice);
}

inline const struct hand_controls *hand;
inline const struct scripted_scheduler *scheduler;
inline const test::HandClock *test_clock;

inline constexpr unsigned turn = PTSCHED_STATE_TURN, callback = PTSCHED_STATE_CALLBACK, wanted = PTSCHED_STATE_WANTED,
                          contended = PTSCHED_STATE_CONTENDED | PTSCHED_STATE_EXACT,
                          lighter = PTSCHED_STATE_CONTENDED | PTSCHED_STATE_WANTED;

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

/* Until @condition is true when everybody else sleeps; time passes until then. */
template <class Condition> void await(Condition condition)
{
    auto holds = [](void *argument) -> bool { return (*static_cast<Condition *>(argument))(); };
    test_clock->await(holds, &condition);
}

inline void pass_ms(unsigned long long ms)
{
    test_clock->pass_ns(ms * 1000000);
}

/* As a std::thread, but for the clock one of those that take part in the test; with the device in use. */
class Thread {
public:
    template <class Body>
    explicit Thread(Body body)
        : thread_([this, body = std::move(expected(body))]() mutable {
              test_clock->thread_begins();
              hand_use_device(0);
              body();
              done_ = true;
              test_clock->thread_ends();
          })
    {
    }
    ~Thread() { join(); }
    Thread(const Thread &) = delete;
    Thread &operator=(const Thread &) = delete;
    bool done() const { return done_; }
    void join()
    {
        if (!thread_.joinable())
            return;
        await([this] { return done(); });
        thread_.join();
    }

private:
    template <class Body> static Body &expected(Body &body)
    {
        test_clock->expect_thread();
        return body;
    }

    std::atomic<bool> done_{false};
    std::thread thread_;
};

/* Ends the present turn, whatever it is, if it has not ended by itself. */
inline void give_back()
{
    hand->complete_by_itself(1);
    hand->complete_all();
    scheduler->take_back(0);
    scheduler->change(0, wanted | contended | lighter);
    scheduler->await_acknowledged();
}

/* Returns twice, as fork() does. No lock is held then by a thread that the child does not have. */
inline pid_t fork_when_all_sleep()
{
    std::fflush(stdout);
    await([] { return true; });
    return fork();
}

/* What a child finds, whose contexts are new, in a time that begins as its parent's. */
template <class Body> void in_a_child(Body body)
{
    pid_t child = fork_when_all_sleep();
    if (!child) {
        bool right = body();
        std::fflush(stdout);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
}

/* Runs the program again with both of them; returns in that one, with a device in use. */
inline void run_by_hand(char **argv)
{
    std::string folder = program_folder() / "preload";
    run_under(argv, folder + "/libptsched-preload.so", folder);
    scheduler = static_cast<const struct scripted_scheduler *>(dlsym(RTLD_DEFAULT, "scripted_scheduler"));
    hand = static_cast<const struct hand_controls *>(dlsym(RTLD_DEFAULT, "hand_controls"));
    test_clock = static_cast<const test::HandClock *>(dlsym(RTLD_DEFAULT, "hand_clock"));
    test_clock->expect_thread();
    test_clock->thread_begins();
    hand->use_clock(test_clock);
    hand_use_device(0);
}

#endif
