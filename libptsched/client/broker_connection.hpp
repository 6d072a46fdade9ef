// SPDX-License-Identifier: MIT
// A connection to the broker that several threads use at once.
#ifndef PTSCHED_CLIENT_BROKER_CONNECTION_HPP
#define PTSCHED_CLIENT_BROKER_CONNECTION_HPP

#include "broker_protocol.h"
#include "fd.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>

namespace ptsched {

// One of the threads that wait for a reply reads the socket for all of them; the
// others sleep on futexes, so that a signal ends either wait as the kernel's rules
// (SA_RESTART) have it.
class BrokerConnection {
public:
    explicit BrokerConnection(UniqueFd socket) : socket_(std::move(socket)) {}

    // One message that is not answered. -EPIPE: the broker is gone.
    int post(uint32_t cmd, const void *payload, uint32_t length, int fd = -1);

    // Sends the structure and waits for the answer, which goes back into it.
    int call(uint32_t cmd, void *argument, uint32_t length, int fd = -1);
    // The same; a signal takes the call back and gives -EINTR, unless it was carried out already.
    int call_interruptible(uint32_t cmd, void *argument, uint32_t length);
    // The same for a connection that no other thread uses yet.
    int call_for_fds(uint32_t cmd, void *argument, uint32_t length, std::span<UniqueFd> fds);

    // Hung up when the broker is gone.
    int fd() const { return socket_.get(); }

private:
    struct Call {
        Call(uint64_t its_id, void *its_argument, uint32_t its_length, std::span<UniqueFd> its_fds)
            : id(its_id), argument(its_argument), length(its_length), fds(its_fds)
        {
        }

        uint64_t id;
        void *argument;
        uint32_t length;
        std::span<UniqueFd> fds;
        Call *next = nullptr;
        int result = 0;
        bool done = false;
        std::chrono::microseconds soon{100}; // an answer within that is not slept for
        std::atomic<uint32_t> wakes{0};
    };

    int send(ptsched_broker_header &header, const void *payload, int fd);
    int transact(Call &call, uint32_t cmd, int fd, bool interruptible);
    bool wait(Call &call, bool interruptible);
    bool sleep(Call &call, std::unique_lock<std::mutex> &lock);
    bool read_one(Call &call, std::unique_lock<std::mutex> &lock);
    void deliver(const char *message, size_t length, std::span<UniqueFd> fds);
    void fail_all();
    void wake_a_reader();
    void forget(Call &call);

    UniqueFd socket_;
    std::atomic<uint64_t> next_id_{1};

    std::mutex mutex_;
    // Protected by mutex_, as are the calls in the list.
    Call *calls_ = nullptr;
    bool reading_ = false;
    bool broken_ = false;
};

} // namespace ptsched

#endif
