// SPDX-License-Identifier: MIT
/*
 * Threads that go while a submission of theirs is on its way: cancelled, ended, thrown out or jumped out of the
 * driver's call. What they leave must keep nobody else from the device.
 */
#include "tests/preload/by_hand.h"

#include <atomic>
#include <csetjmp>
#include <new>
#include <pthread.h>

namespace {

/* So many in a row that most take the short way. */
constexpr int many = 64;

/* Where the turn is contended, every submission is measured. */
const unsigned companies[] = {0, contended};

/* A thread of the program as C has it: it may be cancelled, and may end anywhere. */
class Cancellable {
public:
    explicit Cancellable(void (*body)()) : body_(body)
    {
        test_clock->expect_thread();
        pthread_create(&thread_, nullptr, run, this);
    }
    void cancel() { pthread_cancel(thread_); }
    /* Whether it was cancelled. */
    bool join()
    {
        void *result = nullptr;
        await([this] { return gone_.load(); });
        pthread_join(thread_, &result);
        return result == PTHREAD_CANCELED;
    }

private:
    struct Presence {
        Cancellable &thread;
        ~Presence()
        {
            thread.gone_ = true;
            test_clock->thread_ends();
        }
    };
    static void *run(void *self)
    {
        auto *thread = static_cast<Cancellable *>(self);
        test_clock->thread_begins();
        Presence presence{*thread};
        hand_use_device(0);
        thread->body_();
        return nullptr;
    }

    void (*body_)();
    std::atomic<bool> gone_{false};
    pthread_t thread_;
};

void begin_turn(unsigned company)
{
    give_back();
    CHECK_EQ(int(launch()), 0);
    scheduler->change(company, 0);
    scheduler->await_acknowledged();
}

void turn_ends_and_comes_again()
{
    scheduler->take_back(0);
    unsigned long before = launches();
    Thread([] { CHECK_EQ(int(launch()), 0); }).join();
    CHECK_EQ(launches(), before + 1);
    give_back();
}

void cancelled_while_waiting()
{
    give_back();
    scheduler->grant_at_once(0);
    unsigned long before = launches();
    Cancellable thread([] {
        /* Nor in the driver, though that has a cancellation point: it would have met none there, had it not waited. */
        hand->in_next_submission(pthread_testcancel);
        launch();
        for (;;)
            pthread_testcancel();
    });
    scheduler->await_waiting(1);
    thread.cancel();
    scheduler->grant();
    CHECK(thread.join());
    CHECK_EQ(launches(), before + 1);
    scheduler->grant_at_once(1);
    turn_ends_and_comes_again();
}

void cancelled_in_the_driver()
{
    for (unsigned company : companies) {
        begin_turn(company);
        Cancellable thread([] {
            for (int i = 0; i < many; i++)
                launch();
            pthread_cancel(pthread_self());
            hand->in_next_submission(pthread_testcancel);
            launch();
        });
        CHECK(thread.join());
        turn_ends_and_comes_again();
    }
}

void ended_in_the_driver()
{
    for (unsigned company : companies) {
        begin_turn(company);
        Cancellable thread([] {
            for (int i = 0; i < many; i++)
                launch();
            hand->in_next_submission([] { pthread_exit(nullptr); });
            launch();
        });
        CHECK(!thread.join());
        turn_ends_and_comes_again();
    }
}

std::atomic<int> thrown{0};

void thrown_out_of_the_driver()
{
    for (unsigned company : companies) {
        begin_turn(company);
        int caught = 0;
        thrown = 0;
        for (int i = 0; i < many; i++) {
            hand->in_next_submission([] {
                thrown++;
                throw std::bad_alloc();
            });
            try {
                launch();
            } catch (const std::bad_alloc &) {
                caught++;
            }
            launch();
        }
        CHECK_EQ(caught, many);
        CHECK_EQ(thrown.load(), many);
        turn_ends_and_comes_again();
    }
}

std::jmp_buf out;

__attribute__((noinline)) bool jumped_out()
{
    if (setjmp(out))
        return true;
    hand->in_next_submission([] { std::longjmp(out, 1); });
    launch();
    return false;
}

void jumped_out_of_the_driver()
{
    for (unsigned company : companies) {
        begin_turn(company);
        for (int i = 0; i < many; i++) {
            CHECK(jumped_out());
            CHECK_EQ(int(launch()), 0);
        }
        turn_ends_and_comes_again();
        /* And what the thread submits is still held back. */
        scheduler->grant_at_once(0);
        unsigned long before = launches();
        Thread other([&] {
            scheduler->await_waiting(1);
            CHECK_EQ(launches(), before);
            scheduler->grant();
        });
        CHECK_EQ(int(launch()), 0);
        other.join();
        scheduler->grant_at_once(1);
    }
}

} // namespace

int main(int, char **argv)
{
    run_by_hand(argv);
    launch(); /* attaches */
    return tap::run({
        {"a thread that is cancelled while it waits for its turn submits, and ends after that",
         cancelled_while_waiting},
        {"a thread is cancelled in the driver", cancelled_in_the_driver},
        {"a thread ends in the driver", ended_in_the_driver},
        {"an exception comes out of the driver, and is the program's", thrown_out_of_the_driver},
        {"a thread jumps out of the driver, and goes on", jumped_out_of_the_driver},
    });
}
