/* SPDX-License-Identifier: MIT */
/* Another process, which does with libptsched what the test tells it. */
#ifndef PTSCHED_TEST_ACTOR_HPP
#define PTSCHED_TEST_ACTOR_HPP

#include "tests/conformance/scheduler.hpp"
#include <ptsched/base/fd.hpp>
#include <ptsched/ptsched.h>

#include <sys/types.h>

class Actor {
public:
    struct Outcome {
        int result;
        struct ptsched_acquire grant;
        struct ptsched_page page; /* afterwards */
    };

    /* Forks it. With @nice, it is that much nicer than the test. */
    explicit Actor(int nice = 0);
    Actor(const Actor &) = delete;
    Actor &operator=(const Actor &) = delete;
    /* Kills it, with what it forked. */
    ~Actor();

    pid_t pid() const { return pid_; }

    int open(const char *device);
    /* open() on the first test device, which must succeed. */
    void join();
    Outcome acquire(std::uint64_t deadline_ns = PTSCHED_NEVER, unsigned flags = 0);
    int try_acquire() { return acquire(PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY).result; }
    int release(std::uint64_t gpu_ns = 0);
    int set_mechanism(unsigned mechanism);
    /* Null: none. */
    int set_group(const char *name);
    struct ptsched_page page();
    int act_for(unsigned kind, int fd);
    ptsched::UniqueFd handle();
    void close_client();

    /* Starts an acquire that will block; its outcome is taken with finish(). */
    void start_acquire(std::uint64_t deadline_ns = PTSCHED_NEVER);
    /* start_acquire(), and waits until the scheduler sees it waiting, asleep. */
    void start_waiting(const char *device = scheduler::kDevice);
    Outcome finish();
    bool finished() const;

    /* The handler of SIGUSR1. */
    void handle_signal(bool restart);
    /* Sends SIGUSR1 until its call has ended: one that finds it between two system calls ends no wait. */
    void interrupt();
    void become(uid_t uid) { become(uid, uid); }
    void become(uid_t real, uid_t effective);
    /* A child that has all its descriptors and sleeps until this process' group is killed. */
    pid_t fork_sleeper();
    void kill();

private:
    enum class Operation {
        kOpen,
        kAcquire,
        kRelease,
        kMechanism,
        kGroup,
        kPage,
        kActFor,
        kHandle,
        kClose,
        kSignal,
        kBecome,
        kFork
    };
    struct Command {
        Operation operation;
        unsigned number;
        std::uint64_t value;
        char text[PTSCHED_NAME_LEN];
    };

    [[noreturn]] static void serve(int socket);
    static Outcome carry_out(const Command &command, int fd, ptsched_client *&client, int &reply_fd);
    void send(const Command &command, int fd = -1);
    Outcome ask(const Command &command, int fd = -1);
    Outcome receive();

    pid_t pid_ = -1;
    ptsched::UniqueFd socket_;
    ptsched::UniqueFd received_;
};

#endif
