// SPDX-License-Identifier: MIT
/*
 * What the interposer must not change, against a scheduler and a driver that do what the test says: the order of a
 * program's work, whatever of it waits for what, and that it is scheduled again after an error.
 */
#include "tests/preload/by_hand.h"

extern "C" {
CUresult cuDevicePrimaryCtxReset_v2(CUdevice);
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
}

namespace {

constexpr unsigned long long ms = 1000000;

/* Of another kind than those of launch(). */
CUresult launch_other(CUstream stream)
{
    return cuLaunchKernel(nullptr, 2, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
}

/* Some that are measured, at random, and some that are not; the last one is not. */
void launch_alone(CUstream stream)
{
    unsigned long events = 0;
    for (int i = 0; i < 100 || hand->events() != events; i++) {
        events = hand->events();
        CHECK_EQ(int(launch(stream)), 0);
    }
}

/* An event there would make the blocking streams wait for each other. */
void legacy_stream_has_events_only_with_its_own_work()
{
    give_back();
    CUstream stream = new_stream();
    launch_alone(nullptr);
    launch_alone(stream);
    unsigned long legacy = hand->events_on_legacy(), all = hand->events();
    /* The program rests: what was not measured is asked after. */
    pass_ms(500);
    CHECK(hand->events() > all);
    launch_alone(stream);
    all = hand->events();
    /* Somebody comes. */
    scheduler->change(contended, 0);
    scheduler->await_acknowledged();
    pass_ms(1);
    CHECK(hand->events() > all);
    unsigned long releases = scheduler->releases();
    scheduler->change(callback, 0);
    scheduler->await_releases(releases + 1);
    CHECK_EQ(hand->events_on_legacy(), legacy);
    give_back();
}

void legacy_stream_is_drained_all_the_same()
{
    give_back();
    launch_alone(nullptr);
    hand->complete_by_itself(0);
    CHECK_EQ(int(launch()), 0);
    unsigned long releases = scheduler->releases();
    scheduler->change(callback | contended, 0);
    scheduler->await_acknowledged();
    pass_ms(50);
    CHECK_EQ(scheduler->releases(), releases);
    hand->complete_all();
    scheduler->await_releases(releases + 1);
    give_back();
}

/* While the interposer waits to know whether the legacy stream has come to its end. */
void captures_are_left_alone()
{
    give_back();
    CUstream stream = new_stream(), other = new_stream();
    launch_alone(nullptr);
    hand->complete_by_itself(0);
    CHECK_EQ(int(launch()), 0);
    scheduler->change(contended, 0);
    scheduler->await_acknowledged();
    pass_ms(1);
    CHECK_EQ(int(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED)), 0);
    CHECK_EQ(int(launch(stream)), 0);
    pass_ms(50);
    CUgraph graph = nullptr;
    CHECK_EQ(int(cuStreamEndCapture(stream, &graph)), 0);
    CHECK_EQ(hand->nodes(graph), 1ul);
    hand->complete_all();
    hand->complete_by_itself(1);
    CHECK_EQ(int(launch(other)), 0);
    give_back();
}

/* A kernel that spins until another one, or the host after some more calls, lets it go. */
void what_is_waited_for_is_not_held_back()
{
    give_back();
    CUstream stream = new_stream(), other = new_stream();
    hand->complete_by_itself(1);
    CHECK_EQ(int(launch(stream)), 0);
    scheduler->change(contended, 0);
    scheduler->await_acknowledged();
    pass_ms(1);
    hand->complete_by_itself(0);
    CHECK_EQ(int(launch(stream)), 0);
    unsigned long before = launches();
    Thread([other] {
        for (int i = 0; i < 10; i++)
            CHECK_EQ(int(launch_other(other)), 0);
    }).join();
    CHECK_EQ(launches(), before + 10);
    hand->complete_all();
    pass_ms(10);

    /* From then on it is known. */
    CHECK_EQ(int(launch(stream)), 0);
    std::uint64_t began = test_clock->now_ns();
    for (int i = 0; i < 10; i++)
        CHECK_EQ(int(launch_other(other)), 0);
    CHECK_EQ(test_clock->now_ns(), began);
    hand->complete_all();
    give_back();
}

/* Nothing is known of what was submitted before anybody else came. */
void what_unmeasured_work_waits_for_is_not_held_back()
{
    for (CUstream spins : {CUstream(nullptr), new_stream()}) {
        give_back();
        CUstream other = new_stream();
        launch_alone(spins);
        hand->complete_by_itself(0);
        CHECK_EQ(int(launch(spins)), 0);
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        unsigned long before = launches();
        Thread([other] { CHECK_EQ(int(launch_other(other)), 0); }).join();
        CHECK_EQ(launches(), before + 1);
        hand->complete_all();
    }
    give_back();
}

/* Then what else has come to its end is asked for again and again, which is no progress. */
void others_that_come_and_go_are_no_progress()
{
    give_back();
    CUstream spins = new_stream(), other = new_stream();
    launch_alone(spins);
    launch_alone(other);
    hand->complete_by_itself(0);
    CHECK_EQ(int(launch(spins)), 0);
    scheduler->change(contended, 0);
    scheduler->await_acknowledged();
    Thread needed([other] { CHECK_EQ(int(launch_other(other)), 0); });
    for (int i = 0; i < 500 && !needed.done(); i++) {
        scheduler->change(wanted, 0);
        scheduler->change(0, wanted);
        pass_ms(2);
    }
    CHECK(needed.done());
    hand->complete_all();
    give_back();
}

/* What is known to take long is not taken for something that waits. In a child nothing else is known. */
void long_work_is_waited_for()
{
    give_back();
    in_a_child([] {
        constexpr unsigned long long long_ms = 600;
        CUstream stream = new_stream(), other = new_stream();
        hand->run_in_time(1);
        hand->set_duration_us(long_ms * 1000);
        launch(stream);
        scheduler->set_inflight_ns(2 * ms);
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        for (int i = 0; i < 3; i++)
            launch(stream);
        cuStreamSynchronize(stream);
        std::uint64_t began = test_clock->now_ns();
        launch(stream);
        launch(other);
        /* But for what may be in flight beside it. */
        return test_clock->now_ns() - began >= (long_ms - 2) * ms;
    });
}

/* As after cudaDeviceReset(). Until then the program runs on. */
void who_ends_a_lost_context_is_scheduled_again()
{
    give_back();
    in_a_child([] {
        launch();
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        unsigned long releases = scheduler->releases();
        hand->fail_events(CUDA_ERROR_ILLEGAL_ADDRESS);
        for (int i = 0; i < 10; i++)
            launch();
        scheduler->await_releases(releases + 1);
        scheduler->change(0, contended);
        scheduler->grant_at_once(0);
        bool runs_on = launch() == CUDA_SUCCESS;

        hand->set_primary_active(0);
        cuDevicePrimaryCtxReset_v2(0);
        hand->set_primary_active(1);
        hand->fail_events(CUDA_SUCCESS);
        unsigned long before = launches();
        Thread waits([] { launch(); });
        scheduler->await_waiting(1);
        bool held_back = launches() == before;
        scheduler->grant();
        waits.join();
        return runs_on && held_back && launches() == before + 1;
    });
}

} // namespace

int main(int, char **argv)
{
    run_by_hand(argv);
    CHECK_EQ(int(launch()), 0);
    scheduler->set_inflight_ns(2 * ms);
    return tap::run({
        {"the legacy stream gets events with the program's own work only",
         legacy_stream_has_events_only_with_its_own_work},
        {"and a turn is kept until its work has ended", legacy_stream_is_drained_all_the_same},
        {"a capture meanwhile is left alone", captures_are_left_alone},
        {"what work in flight waits for is not held back", what_is_waited_for_is_not_held_back},
        {"nor is what unmeasured work waits for", what_unmeasured_work_waits_for_is_not_held_back},
        {"others that come and go meanwhile are no progress", others_that_come_and_go_are_no_progress},
        {"what is known to take long is waited for", long_work_is_waited_for},
        {"who ends a lost context is scheduled again", who_ends_a_lost_context_is_scheduled_again},
    });
}
