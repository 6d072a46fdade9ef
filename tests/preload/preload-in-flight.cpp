// SPDX-License-Identifier: MIT
/*
 * Work in flight, against a scheduler and a driver that do what the test says: how much of it there may be, how it is
 * known to be there and measured, and what the driver gets to see of that. Every wait here is for an event, never for a
 * time, but where that is what is counted.
 */
#include "tests/preload/by_hand.h"

#include <algorithm>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

extern "C" {
CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                             void **, void **);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
}

namespace {

/* As sandboxes do. */
bool forbid_membarrier()
{
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog filter{.len = std::size(program), .filter = program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Then nothing may be submitted unseen. Comes first, since it is asked for once. */
void without_membarrier_each_counts_once()
{
    in_a_child([] {
        constexpr unsigned long long count = 500;
        if (!forbid_membarrier())
            return false;
        hand_use_device(0);
        for (unsigned long long i = 0; i < count; i++)
            launch();
        give_back();
        std::printf("# %llu us charged for %llu of a millisecond\n", scheduler->gpu_ns() / 1000, count);
        return scheduler->submissions() == count && scheduler->gpu_ns() == count * 1000000;
    });
}

void in_flight_is_bounded()
{
    /* Not sooner, see above. */
    CHECK_EQ(int(launch()), 0);
    give_back();
    in_a_child([] {
        constexpr unsigned long count = 20;
        constexpr unsigned long long bound_us = 2000;
        hand->run_in_time(1);
        launch();
        scheduler->set_inflight_ns(bound_us * 1000);
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        pass_ms(1);
        launch();
        pass_ms(1);
        /* How long they take is known by now. */
        unsigned long before = launches();
        unsigned long long longest_us = 0;
        for (unsigned long i = 0; i < count; i++) {
            launch();
            longest_us = std::max(longest_us, hand->queued_us(nullptr));
        }
        std::printf("# %llu us in flight\n", longest_us);
        return launches() == before + count && longest_us > bound_us / 2 && longest_us <= bound_us;
    });
}

/* Beside others that weigh less, the same is true without events around each, but for what is given between two. */
void beside_lighter_ones_samples_do()
{
    give_back();
    in_a_child([] {
        constexpr unsigned long count = 4000;
        constexpr unsigned kernel_us = 20;
        constexpr unsigned long long bound_us = 2000;
        unsigned long long submissions_before = scheduler->submissions(), charged_us = scheduler->gpu_ns() / 1000;
        hand->run_in_time(1);
        hand->set_duration_us(kernel_us);
        launch();
        scheduler->set_inflight_ns(bound_us * 1000);
        scheduler->change(lighter, 0);
        scheduler->await_acknowledged();
        unsigned long releases = scheduler->releases(), events = 0;
        unsigned long long longest_us = 0;
        for (unsigned long i = 0; i < count; i++) {
            launch();
            longest_us = std::max(longest_us, hand->queued_us(nullptr));
            /* By then it is known how long they take. */
            events = i == count / 2 ? hand->events() : events;
        }
        events = hand->events() - events;
        bool kept = scheduler->releases() == releases;
        scheduler->await_releases(releases + 1);
        charged_us = scheduler->gpu_ns() / 1000 - charged_us;
        std::printf("# %lu events for %lu kernels, %llu us in flight, %llu us charged for %llu\n", events, count / 2,
                    longest_us, charged_us, (count + 1ull) * kernel_us);
        return kept && events < count / 8 && longest_us > bound_us / 2 && longest_us <= bound_us * 13 / 10 &&
               scheduler->submissions() - submissions_before == count + 1 && charged_us > count * kernel_us * 9 / 10 &&
               charged_us < count * kernel_us * 11 / 10;
    });
}

/* Of a program that has two kernels in flight, of which both are just more than the bound: the device goes on. */
bool two_in_flight_keep_it_busy(unsigned state, unsigned kernel_us)
{
    constexpr unsigned long count = 200;
    hand->run_in_time(1);
    hand->set_duration_us(kernel_us);
    launch();
    scheduler->set_inflight_ns(2000000);
    scheduler->change(state, 0);
    scheduler->await_acknowledged();
    std::uint64_t begun = test_clock->now_ns();
    for (unsigned long i = 0; i < count; i++) {
        launch();
        await([&] { return hand->queued_us(nullptr) <= kernel_us; });
    }
    std::uint64_t us = (test_clock->now_ns() - begun) / 1000;
    std::printf("# %u us each: %.3f of the time the device was busy\n", kernel_us,
                double(count * kernel_us) / double(us));
    return us < count * kernel_us * 102 / 100;
}

void the_bound_leaves_no_gaps()
{
    give_back();
    for (unsigned state : {lighter, contended | wanted})
        for (unsigned us : {900u, 1003u, 1020u, 1500u, 1990u, 5000u})
            in_a_child([=] { return two_in_flight_keep_it_busy(state, us); });
}

/* Nobody but the thread itself knows of it. */
void a_submission_on_its_way_keeps_the_turn()
{
    give_back();
    in_a_child([] {
        static unsigned long releases;
        static bool kept;
        launch();
        launch();
        scheduler->change(lighter, 0);
        scheduler->await_acknowledged();
        releases = scheduler->releases();
        launch();
        hand->in_next_submission([] {
            pass_ms(10);
            kept = scheduler->releases() == releases;
        });
        launch();
        scheduler->await_releases(releases + 1);
        return kept;
    });
}

/*
 * A stream of the driver takes some thousand calls behind a kernel, and then the next one waits: with an event for each
 * turn, the agent would wait for a kernel that never ends, and others for the agent.
 */
void a_kernel_that_stays_has_one_event_behind_it()
{
    give_back();
    in_a_child([] {
        CUstream stream = new_stream();
        hand->complete_by_itself(0);
        launch(stream);
        unsigned long events = 0;
        for (int i = 0; i < 100; i++) {
            scheduler->change(contended | wanted, 0);
            scheduler->await_acknowledged();
            await([] { return true; });
            events = events ? events : hand->events();
            scheduler->change(0, contended | wanted);
            scheduler->await_acknowledged();
        }
        bool one = hand->events() == events;
        /* What may have come behind that is waited for as well, by another event. */
        scheduler->change(contended | wanted, 0);
        scheduler->await_acknowledged();
        unsigned long releases = scheduler->releases();
        hand->complete_all();
        await([events] { return hand->events() > events; });
        bool kept = hand->events() == events + 1 && scheduler->releases() == releases;
        hand->complete_all();
        scheduler->await_releases(releases + 1);
        return one && kept;
    });
}

void capture_is_left_alone()
{
    give_back();
    scheduler->change(contended, 0);
    unsigned long captured = hand->events_captured();
    for (CUstreamCaptureMode mode :
         {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
        CUstream stream = new_stream();
        CHECK_EQ(int(launch(stream)), 0);
        CHECK_EQ(int(cuStreamBeginCapture_v2(stream, mode)), 0);
        for (int i = 0; i < 5; i++)
            CHECK_EQ(int(launch(stream)), 0);
        /* The agent looks at all streams meanwhile. */
        scheduler->take_back(0);
        /* And what is captured needs no turn. */
        scheduler->grant_at_once(0);
        for (int i = 0; i < 5; i++)
            CHECK_EQ(int(launch(stream)), 0);
        scheduler->grant_at_once(1);
        CUgraph graph = nullptr;
        CHECK_EQ(int(cuStreamEndCapture(stream, &graph)), 0);
        CHECK_EQ(hand->nodes(graph), 10ul);
    }
    CHECK_EQ(hand->events_captured(), captured);
    give_back();
}

/* It may be a real-time thread, and the capture's thread may need its CPU. Nor does it keep a child from capturing. */
void agent_sleeps_while_a_capture_begins()
{
    give_back();
    CUstream stream = new_stream();
    hand->hold_captures(1);
    Thread capturing([stream] {
        CHECK_EQ(int(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)), 0);
        CUgraph graph = nullptr;
        CHECK_EQ(int(cuStreamEndCapture(stream, &graph)), 0);
    });
    await([] { return hand->captures_beginning() == 1; });
    /* What was submitted alone gets an end event before the turn ends. */
    scheduler->change(0, wanted | contended);
    CHECK_EQ(int(launch()), 0);
    unsigned long releases = scheduler->releases();
    scheduler->change(callback, 0);
    /* Time passes only while it sleeps. */
    pass_ms(1);
    CHECK_EQ(scheduler->releases(), releases);
    CHECK(scheduler->state() & turn);
    in_a_child([] {
        hand->hold_captures(0);
        return cuStreamBeginCapture_v2(new_stream(), CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS;
    });
    hand->hold_captures(0);
    scheduler->await_releases(releases + 1);
    capturing.join();
    give_back();
}

void stream_may_end_with_work_in_flight()
{
    CUstream stream = new_stream();
    hand->complete_by_itself(0);
    CHECK_EQ(int(launch(stream)), 0);
    CHECK_EQ(int(launch(stream)), 0);
    CHECK_EQ(int(cuStreamDestroy_v2(stream)), 0);
    unsigned long releases = scheduler->releases();
    scheduler->change(callback, 0);
    scheduler->await_acknowledged();
    CHECK_EQ(scheduler->releases(), releases);
    hand->complete_all();
    scheduler->await_releases(releases + 1);
    give_back();
}

/* Of per-thread default streams. What comes later has completed, on a stream of its own. */
void threads_may_end_with_work_in_flight()
{
    auto in_a_thread = [](int completes) {
        Thread([completes] {
            hand->complete_by_itself(completes);
            CHECK_EQ(int(cuLaunchKernel_ptsz(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)), 0);
        }).join();
    };
    give_back();
    scheduler->change(contended, 0);
    in_a_thread(0);
    in_a_thread(1);
    unsigned long releases = scheduler->releases();
    scheduler->change(callback, 0);
    scheduler->await_acknowledged();
    /* The agent's look that found the call-back is over when it acknowledges another. */
    scheduler->call_for_nothing();
    CHECK_EQ(scheduler->releases(), releases);
    hand->complete_all();
    scheduler->await_releases(releases + 1);
    give_back();
}

void driver_errors_stay_ours()
{
    in_a_child([] {
        launch();
        scheduler->change(contended, 0);
        hand->fail_events(CUDA_ERROR_ILLEGAL_ADDRESS);
        bool right = true;
        for (int i = 0; i < 100; i++)
            right = right && launch() == CUDA_SUCCESS;
        return right;
    });
}

/* For a while; then all is measured as ever. Of the first three events none is lost: they come by 48 besides one. */
void driver_may_be_out_of_events()
{
    give_back();
    for (unsigned long more : {1, 2, 3, 4, 48}) {
        in_a_child([=] {
            unsigned long there = hand->events_there();
            auto in_a_turn = [] {
                unsigned long long before = scheduler->gpu_ns();
                scheduler->change(contended, 0);
                for (int i = 0; i < 20; i++)
                    launch();
                give_back();
                return scheduler->gpu_ns() - before;
            };
            hand->limit_events(there + more);
            launch();
            in_a_turn();
            hand->limit_events(~0ul);
            in_a_turn();
            unsigned long long charged_ns = in_a_turn();
            unsigned long made = hand->events_there() - there;
            std::printf("# %llu ns charged for 20 of a millisecond, with %lu events\n", charged_ns, made);
            return charged_ns == 20000000 && (more >= 3 || made == 49);
        });
    }
}

} // namespace

int main(int, char **argv)
{
    run_by_hand(argv);
    return tap::run({
        {"without membarrier() each submission is measured and counted once", without_membarrier_each_counts_once},
        {"work in flight is bounded, and all is submitted in the end", in_flight_is_bounded},
        {"two kernels in flight keep the device busy, whatever their sum is", the_bound_leaves_no_gaps},
        {"beside lighter ones samples are measured, and work in flight is bounded", beside_lighter_ones_samples_do},
        {"a submission on its way keeps the turn", a_submission_on_its_way_keeps_the_turn},
        {"a kernel that stays for many turns has one event behind it", a_kernel_that_stays_has_one_event_behind_it},
        {"a captured graph has the program's nodes and no others", capture_is_left_alone},
        {"the agent sleeps while a capture begins in another thread", agent_sleeps_while_a_capture_begins},
        {"a stream may be destroyed with work in flight", stream_may_end_with_work_in_flight},
        {"a thread may end with work in flight on its default stream", threads_may_end_with_work_in_flight},
        {"driver errors of our own calls are not the program's", driver_errors_stay_ours},
        {"a driver that has no more events for a while", driver_may_be_out_of_events},
    });
}
