/* SPDX-License-Identifier: MIT */
/* A connection to the broker that several threads use at once. */
#ifndef PTSCHED_CLIENT_BROKER_CONNECTION_HPP
#define PTSCHED_CLIENT_BROKER_CONNECTION_HPP

#include "libptsched/base/kept_fd.hpp"
#include "libptsched/base/lock.hpp"
#include "libptsched/client/broker_protocol.h"
#include "libptsched/client/broker_socket.hpp"
#include "libptsched/client/broker_watch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

namespace ptsched {

/*
 * One of the threads that wait for a reply reads the socket for all of them; the
 * others sleep on futexes, so that a signal ends either wait as the kernel's rules
 * (SA_RESTART) have it.
 *
 * Calls return 0 or a negative errno. Once the connection is lost, all of them return why:
 * -EPIPE: the broker is gone; -EHOSTDOWN: it does not answer; -EBADFD: the program has closed
 * the socket; or what the broker said when it turned this process away.
 */
class BrokerConnection final : private WatchedConnection {
public:
    /*
     * The broker may take as long as @patience for what it answers at once. Asleep, a stopped process or a busy machine
     * does not use that up.
     */
    explicit BrokerConnection(UniqueFd socket, std::chrono::nanoseconds patience = kBrokerPatience)
        : socket_(std::move(socket)), patience_(patience)
    {
    }

    /* One message that is not answered. */
    int post(std::uint32_t cmd, const void *payload, std::uint32_t length, int fd = -1);

    /* Sends the structure and waits for the answer, which goes back into it. */
    int call(std::uint32_t cmd, void *argument, std::uint32_t length, int fd = -1);
    /*
     * The same without a limit, for what is answered when it is its turn; BrokerWatch sees whether the broker still
     * answers meanwhile. A signal takes the call back and gives -EINTR, unless it was carried out already.
     */
    int call_interruptible(std::uint32_t cmd, void *argument, std::uint32_t length);
    /* The same as call() for a connection that no other thread uses yet. */
    int call_for_fds(std::uint32_t cmd, void *argument, std::uint32_t length, std::span<UniqueFd> fds, int fd = -1);

    /* Hung up when the broker is gone. -1: the program has closed it. */
    int fd() const { return socket_.is_ours() ? socket_.get() : -1; }

    std::chrono::nanoseconds patience() const { return patience_; }

private:
    /* What is left of the patience. Of a single sleep, no more counts than it was meant to last. */
    class Limit {
    public:
        explicit Limit(std::chrono::nanoseconds patience)
            : left_ns_(static_cast<std::uint64_t>(patience.count())), step_ns_(left_ns_ / 8)
        {
        }
        std::uint64_t step_ns() const { return step_ns_; }
        bool reached() const { return left_ns_ == 0; }
        void spend(std::uint64_t since_ns);

    private:
        std::uint64_t left_ns_, step_ns_;
    };

    struct Call {
        Call(std::uint64_t its_id, void *its_argument, std::uint32_t its_length, std::span<UniqueFd> its_fds)
            : id(its_id), argument(its_argument), length(its_length), fds(its_fds)
        {
        }

        std::uint64_t id;
        void *argument;
        std::uint32_t length;
        std::span<UniqueFd> fds;
        Call *next = nullptr;
        int result = 0;
        bool done = false;
        std::chrono::microseconds soon{100}; /* an answer within that is not slept for */
        std::atomic<std::uint32_t> wakes{0};
        std::optional<BrokerWatch> watch; /* once it has slept without a limit */
    };

    void ask_for_sign() override;
    std::uint64_t heard() const override { return heard_.load(std::memory_order_relaxed); }
    void give_up() override;
    int send(ptsched_broker_header &header, const void *payload, int fd, int flags = 0);
    int transact(Call &call, std::uint32_t cmd, int fd, bool interruptible);
    bool wait(Call &call, std::optional<Limit> limit, bool interruptible);
    bool sleep(Call &call, Lock &lock, std::optional<Limit> &limit) PTSCHED_REQUIRES(mutex_);
    bool read_one(Call &call, Lock &lock, std::optional<Limit> &limit) PTSCHED_REQUIRES(mutex_);
    int lost() PTSCHED_EXCLUDES(mutex_);
    void watch(Call &call) PTSCHED_EXCLUDES(mutex_);
    void deliver(const char *message, std::size_t length, std::span<UniqueFd> fds) PTSCHED_REQUIRES(mutex_);
    void fail_all(int error) PTSCHED_REQUIRES(mutex_);
    void wake_a_reader() PTSCHED_REQUIRES(mutex_);
    void forget(Call &call) PTSCHED_REQUIRES(mutex_);

    KeptFd socket_;
    const std::chrono::nanoseconds patience_;
    std::atomic<std::uint64_t> next_id_{1};
    std::atomic<std::uint64_t> heard_{0};

    Mutex mutex_;
    /* As are the calls in the list. */
    Call *calls_ PTSCHED_GUARDED_BY(mutex_) = nullptr;
    bool reading_ PTSCHED_GUARDED_BY(mutex_) = false;
    int turned_away_ PTSCHED_GUARDED_BY(mutex_) = 0; /* why, as the broker has said */
    int lost_ PTSCHED_GUARDED_BY(mutex_) = 0;        /* why there is no connection any more */
};

} // namespace ptsched

#endif
