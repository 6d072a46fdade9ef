/* SPDX-License-Identifier: MIT */
/* Clients and threads of the test's own process. */
#ifndef PTSCHED_TEST_THREAD_HPP
#define PTSCHED_TEST_THREAD_HPP

#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>

/* An open client of this process on the first test device. */
class Client {
public:
    Client()
    {
        CHECK_EQ(0, ptsched_open(scheduler::kDevice, PTSCHED_MECHANISM_GATE, scheduler::backend(), &client_));
        scheduler::wait_for_budget(getpid());
    }
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;
    ~Client() { ptsched_close(client_); }

    operator ptsched_client *() const { return client_; }
    const ptsched_page *page() const { return ptsched_client_page(client_); }
    std::uint32_t state() const { return ptsched_state(page()); }
    std::uint32_t events() const { return __atomic_load_n(&page()->events, __ATOMIC_ACQUIRE); }
    /* What was sent before has been carried out: the broker does not answer everything. */
    void round_trip() const
    {
        struct ptsched_query query;
        CHECK_EQ(0, ptsched_query(client_, &query));
    }
    void wait_for_bits(std::uint32_t bits) const
    {
        scheduler::wait_until([&] { return (state() & bits) == bits; });
    }

private:
    ptsched_client *client_ = nullptr;
};

/* A thread that acquires the turn, perhaps of several clients one after the other. */
class AcquiringThread {
public:
    explicit AcquiringThread(ptsched_client *client, ptsched_client *then = nullptr)
    {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        sigaction(SIGUSR2, &action, nullptr);
        thread_ = std::thread([this, client, then] {
            tid_ = gettid();
            result_ = ptsched_acquire(client, PTSCHED_NEVER, 0, &grant_);
            if (!result_ && then)
                result_ = ptsched_acquire(then, PTSCHED_NEVER, 0, &grant_);
            done_ = true;
        });
    }
    ~AcquiringThread()
    {
        if (thread_.joinable())
            thread_.detach();
    }

    void wait_until_asleep()
    {
        scheduler::wait_until([this] { return tid_ != 0; });
        scheduler::wait_until_asleep(tid_);
    }
    /* A signal that finds the thread between two system calls ends no wait: another one will. */
    void interrupt()
    {
        scheduler::wait_until([this] {
            pthread_kill(thread_.native_handle(), SIGUSR2);
            return done_.load();
        });
    }
    bool done() const { return done_; }
    int join()
    {
        thread_.join();
        return result_;
    }
    const struct ptsched_acquire &grant() const { return grant_; }

private:
    std::thread thread_;
    std::atomic<pid_t> tid_{0};
    std::atomic<bool> done_{false};
    int result_ = 0;
    struct ptsched_acquire grant_ {};
};

#endif
