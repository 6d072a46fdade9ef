/* SPDX-License-Identifier: MIT */
/* A thread of the library that waits for descriptors and graphs, and ends when it is told to, wherever it waits. */
#ifndef PTSCHED_BASE_WORKER_HPP
#define PTSCHED_BASE_WORKER_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/base/fd.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace ptsched {

using Deadline = std::optional<std::chrono::steady_clock::time_point>; /* none: never */

/* The words of errno after @what. */
std::string system_error_text(const std::string &what);

/* How to stop who waits. */
class Stop {
public:
    explicit Stop(std::stop_token token);
    Stop(const Stop &) = delete;
    Stop &operator=(const Stop &) = delete;
    const std::stop_token &token() const { return token_; }
    bool requested() const { return token_.stop_requested(); }
    /* Blocks until @fd has one of @events, an error or an end; false if it is to stop, or at the deadline. */
    bool await(int fd, short events, const Deadline &deadline = {}) const;
    /* Readable when it is to stop; none if nobody can tell it to. */
    int fd() const { return fd_.get(); }

private:
    struct Wake {
        int fd;
        void operator()() const noexcept;
    };

    const std::stop_token token_;
    const UniqueFd fd_;
    const std::stop_callback<Wake> wake_;
};

class Worker {
public:
    using Body = std::function<void(const Stop &)>;
    explicit Worker(Body body);
    /* Stops it. */
    ~Worker();
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    void request_stop() { source_.request_stop(); }
    /* Blocks until it has ended; throws what ended it. */
    void wait();

private:
    void run(const Body &body);

    std::stop_source source_;
    const Stop stop_{source_.get_token()};
    Mutex mutex_;
    std::condition_variable changed_;
    bool ended_ PTSCHED_GUARDED_BY(mutex_) = false;
    std::exception_ptr error_ PTSCHED_GUARDED_BY(mutex_);
    std::thread thread_;
};

} // namespace ptsched

#endif /* PTSCHED_BASE_WORKER_HPP */
