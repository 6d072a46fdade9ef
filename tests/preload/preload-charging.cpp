// SPDX-License-Identifier: MIT
/*
 * What the interposer charges a program with, against a scheduler and a driver that do what the test says: the GPU time
 * of its submissions and how many there were, alone and under contention.
 */
#include "tests/preload/by_hand.h"

#include <algorithm>
#include <array>

namespace {

void alone_touches_little()
{
    unsigned long before = launches(), events = hand->events();
    constexpr unsigned long count = 20000;
    for (unsigned long i = 0; i < count; i++)
        launch();
    CHECK_EQ(launches(), before + count);
    CHECK_EQ(scheduler->opens(), 1ul);
    CHECK_EQ(scheduler->waiting(), 0ul);
    /* Two events for each sample. A sample of each submission would be 40000. */
    CHECK(hand->events() - events < count);
}

/* By that the scheduler sees that it gets nowhere. */
void beside_equals_reports_come_by_themselves()
{
    constexpr unsigned beside = PTSCHED_STATE_CONTENDED | PTSCHED_STATE_BESIDE;
    give_back();
    hand->complete_by_itself(0);
    CHECK_EQ(int(launch()), 0);
    scheduler->change(beside, 0);
    scheduler->await_reports(scheduler->reports() + 3);
    scheduler->change(0, beside);
    hand->complete_all();
    give_back();
}

/* The device serves them in turns: what passed while a kernel ran is not all its own, whether it is known or new. */
void beside_equals_a_part_is_charged()
{
    give_back();
    in_a_child([] {
        constexpr unsigned beside = PTSCHED_STATE_CONTENDED | PTSCHED_STATE_BESIDE;
        constexpr unsigned count = 100, kernel_us = 1000;
        auto run = [](unsigned us) {
            unsigned long long before = scheduler->gpu_ns(), submissions = scheduler->submissions();
            hand->set_duration_us(us);
            for (unsigned i = 0; i < count; i++) {
                launch();
                cuStreamSynchronize(nullptr);
            }
            scheduler->await_submissions(submissions + count);
            return double(scheduler->gpu_ns() - before) / (1000.0 * count * kernel_us);
        };
        hand->run_in_time(1);
        double alone = run(kernel_us);
        scheduler->change(beside, 0);
        scheduler->await_acknowledged();
        double among_others = run(2 * kernel_us);
        scheduler->change(0, beside);
        scheduler->await_acknowledged();
        double alone_again = run(kernel_us);
        std::printf("# charged / used: %.3f alone, %.3f beside an equal, %.3f alone again\n", alone, among_others,
                    alone_again);
        auto is_right = [](double charged) { return charged > 0.9 && charged < 1.1; };
        return is_right(alone) && is_right(among_others) && is_right(alone_again);
    });
}

/* Nobody calls it back, and no further submission comes. */
void alone_reports_the_rest()
{
    give_back();
    unsigned long long before = scheduler->submissions();
    /* One of them at least is measured. */
    constexpr unsigned long long count = 10000;
    for (unsigned long long i = 0; i < count; i++)
        launch();
    scheduler->await_submissions(before + count);
    CHECK_EQ(scheduler->submissions() - before, count);
}

/* Launches from now on, and what is charged for them. */
class Charged {
public:
    void submit(unsigned us, unsigned long long count = 1)
    {
        hand->set_duration_us(us);
        for (unsigned long long i = 0; i < count; i++)
            launch();
        submissions_ += count;
    }
    void await() const { scheduler->await_submissions(submissions_); }
    /* Less than @most_off away from what is expected, in ms. */
    bool about(unsigned long long expected, unsigned long long most_off) const
    {
        await();
        unsigned long long ms = (scheduler->gpu_ns() - before_) / 1000000;
        std::printf("# %llu ms charged for %llu\n", ms, expected);
        return ms > expected - most_off && ms < expected + most_off;
    }

private:
    unsigned long long submissions_{scheduler->submissions()};
    const unsigned long long before_{scheduler->gpu_ns()};
};

/* The same where work takes its time. */
template <class Body> void in_a_child_in_time(Body body)
{
    give_back();
    in_a_child([body] {
        hand->run_in_time(1);
        return body();
    });
}

/* Few of many short ones are measured, and none might be of those that come later. */
void alone_long_ones_after_short_ones()
{
    in_a_child_in_time([] {
        Charged short_ones;
        short_ones.submit(1, 10000);
        short_ones.await();
        Charged charged;
        charged.submit(50000, 3);
        return charged.about(150, 30);
    });
}

/* They are there before anything of how long they take is known, and what comes with them is short. */
void alone_long_ones_at_once()
{
    in_a_child_in_time([] {
        Charged charged;
        charged.submit(2, 1);
        charged.submit(200000, 5);
        charged.submit(2, 2);
        return charged.about(1000, 50);
    });
}

/* They run while the program rests, and are no samples. */
void alone_long_ones_at_the_end()
{
    in_a_child_in_time([] {
        Charged charged;
        /* Enough to know how long those are. */
        charged.submit(2, 100);
        charged.submit(500000, 1);
        return charged.about(500, 25);
    });
}

/* Each is waited for, and most are no sample: what they take is seen by the waiting. */
void alone_long_ones_are_waited_for()
{
    in_a_child_in_time([] {
        Charged charged;
        charged.submit(2);
        charged.submit(2);
        for (int i = 0; i < 10; i++) {
            /* After 100 ms without another the program would have come to rest, with one that is no sample. */
            charged.submit(90000);
            cuStreamSynchronize(nullptr);
        }
        return charged.about(900, 45);
    });
}

/* Of kernels side by side a sample takes as long as several: it cannot stand for more than has passed. */
void alone_side_by_side_counts_once()
{
    give_back();
    in_a_child([] {
        constexpr unsigned long long rounds = 4000, streams = 4;
        unsigned long long submissions = scheduler->submissions(), gpu_before = scheduler->gpu_ns();
        std::array<CUstream, streams> all;
        std::generate(all.begin(), all.end(), new_stream);
        /* Each stream has a clock, which a kernel moves on by a millisecond. A new thread begins with a sample. */
        Thread([&] {
            for (unsigned long long i = 0; i < rounds; i++)
                for (CUstream stream : all)
                    launch(stream);
        }).join();
        scheduler->await_submissions(submissions + rounds * streams);
        unsigned long long charged_ms = (scheduler->gpu_ns() - gpu_before) / 1000000;
        std::printf("# %llu ms charged for %llu\n", charged_ms, rounds);
        return charged_ms > rounds * 7 / 10 && charged_ms < rounds * 13 / 10;
    });
}

/* Its thread may lose the CPU there for so long that the program seems to rest. */
void alone_one_under_way_counts_once()
{
    give_back();
    in_a_child([] {
        unsigned long long before = scheduler->gpu_ns();
        hand->in_next_submission([] {
            unsigned long reports = scheduler->reports();
            /* The sample is reported, and then what is left. */
            Thread([] { launch(); }).join();
            scheduler->await_reports(reports + 2);
        });
        launch();
        give_back();
        std::printf("# %llu us charged for 2 of a millisecond\n", (scheduler->gpu_ns() - before) / 1000);
        return scheduler->gpu_ns() - before == 2000000;
    });
}

void contended_measures_everything()
{
    give_back();
    /* Nothing is known there of launches that were held back. */
    in_a_child([] {
        launch();
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        give_back();
        unsigned long long gpu_before = scheduler->gpu_ns(), submissions_before = scheduler->submissions();
        scheduler->change(contended, 0);
        for (int i = 0; i < 50; i++)
            launch();
        give_back();
        std::printf("# %llu ns charged for 50 of a millisecond\n", scheduler->gpu_ns() - gpu_before);
        /* The driver says a millisecond for each, one after another. */
        return scheduler->gpu_ns() - gpu_before == 50000000 && scheduler->submissions() - submissions_before == 50;
    });
}

void events_are_not_charged()
{
    give_back();
    in_a_child([] {
        hand->set_event_us(100, 170);
        launch();
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        for (int i = 0; i < 200; i++)
            launch();
        give_back();
        unsigned long long before = scheduler->gpu_ns();
        scheduler->change(contended, 0);
        for (int i = 0; i < 50; i++)
            launch();
        give_back();
        unsigned long long us = (scheduler->gpu_ns() - before + 500) / 1000;
        std::printf("# %llu us for 50 kernels of 1 ms\n", us);
        return us > 49950 && us < 50050;
    });
}

/* Their GPU time counts, and the turn stays until they have ended, though few have events of their own. */
void short_ones_have_few_events()
{
    constexpr unsigned long count = 400;
    auto in_a_turn = [] {
        CHECK_EQ(int(launch()), 0);
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        for (unsigned long i = 0; i < count; i++)
            CHECK_EQ(int(launch()), 0);
    };
    give_back();
    hand->set_duration_us(20);
    /* So that they are well known, and no more what came before. */
    for (int turns = 0; turns < 3; turns++) {
        in_a_turn();
        give_back();
    }
    unsigned long events = hand->events();
    unsigned long long gpu_before = scheduler->gpu_ns(), submissions_before = scheduler->submissions();
    in_a_turn();
    CHECK(hand->events() - events < count);
    hand->complete_by_itself(0);
    for (unsigned long i = 0; i < 20; i++)
        CHECK_EQ(int(launch()), 0);
    unsigned long releases = scheduler->releases();
    scheduler->change(callback, 0);
    scheduler->await_acknowledged();
    CHECK_EQ(scheduler->releases(), releases);
    CHECK(scheduler->state() & turn);
    hand->complete_all();
    scheduler->await_releases(releases + 1);
    scheduler->change(0, contended);
    CHECK_EQ(scheduler->submissions() - submissions_before, count + 21ull);
    /* The first one came before the contention, and counts as much as those alone have so far. */
    unsigned long long gpu_us = (scheduler->gpu_ns() - gpu_before) / 1000;
    std::printf("# %llu us charged for %lu\n", gpu_us, (count + 20) * 20);
    CHECK(gpu_us >= (count + 20) * 20 - 10);
    CHECK(gpu_us <= (count + 20) * 20 + 1000);
    hand->set_duration_us(1000);
    give_back();
}

/* Few of what is known are timed; of the others it is seen that they run on. */
void known_ones_that_take_longer_are_noticed()
{
    in_a_child_in_time([] {
        launch();
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        auto run = [](unsigned ms) {
            hand->set_duration_us(ms * 1000);
            launch();
            pass_ms(ms);
        };
        unsigned long long before = scheduler->gpu_ns();
        for (int i = 0; i < 5; i++) {
            for (int j = 0; j < 60; j++)
                run(1);
            run(100);
        }
        give_back();
        unsigned long long charged_ms = (scheduler->gpu_ns() - before) / 1000000;
        std::printf("# %llu ms charged for 800\n", charged_ms);
        /* What nobody waits for is looked at every 20 ms. */
        return charged_ms > 700 && charged_ms < 810;
    });
}

/* It told that it would be through after 10 ms; then the next was on the device, too. */
void what_overlaps_the_next_turn_is_charged_its_own_part()
{
    in_a_child_in_time([] {
        hand->set_duration_us(10000);
        launch();
        scheduler->change(contended, 0);
        scheduler->await_acknowledged();
        for (int i = 0; i < 10; i++) {
            launch();
            pass_ms(10);
        }
        give_back();
        scheduler->change(contended | wanted, 0);
        unsigned long long before = scheduler->gpu_ns();
        unsigned long releases = scheduler->releases();
        hand->set_duration_us(90000);
        launch();
        scheduler->change(callback, 0);
        scheduler->await_releases(releases + 1);
        unsigned long long charged_ms = (scheduler->gpu_ns() - before) / 1000000;
        std::printf("# %llu ms charged for 10 of 90\n", charged_ms);
        return charged_ms == 10;
    });
}

} // namespace

int main(int, char **argv)
{
    run_by_hand(argv);
    return tap::run({
        {"alone: no call to the scheduler, few events", alone_touches_little},
        {"alone: what is left when the program stops submitting is reported", alone_reports_the_rest},
        {"beside equals a program that waits reports all the same", beside_equals_reports_come_by_themselves},
        {"beside equals a kernel is charged its part", beside_equals_a_part_is_charged},
        {"alone: long kernels after many short ones are measured", alone_long_ones_after_short_ones},
        {"alone: long kernels that are submitted at once are measured", alone_long_ones_at_once},
        {"alone: a long kernel at the end is measured", alone_long_ones_at_the_end},
        {"alone: long kernels that are waited for are measured", alone_long_ones_are_waited_for},
        {"alone: what runs side by side counts once", alone_side_by_side_counts_once},
        {"alone: one that is under way while the program rests counts once", alone_one_under_way_counts_once},
        {"under contention GPU time and submissions are told exactly", contended_measures_everything},
        {"what the events around work take is not charged", events_are_not_charged},
        {"contended: short kernels have few events, and all are accounted and waited for", short_ones_have_few_events},
        {"contended: known ones that take longer are noticed", known_ones_that_take_longer_are_noticed},
        {"what overlaps the next turn is charged its own part", what_overlaps_the_next_turn_is_charged_its_own_part},
    });
}
