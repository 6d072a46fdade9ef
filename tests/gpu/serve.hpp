/* SPDX-License-Identifier: MIT */
/*
 * How the programs of this folder take orders, one line each on standard input:
 * "run SECONDS [WARM-UP]", "steps COUNT", "stop" (ends a run early), "quit" or end
 * of file. They answer in lines of JSON: "ready", "tick" (while running, if asked
 * for) and "result". programs.py is the other side.
 */
#ifndef PTSCHED_TESTS_GPU_SERVE_HPP
#define PTSCHED_TESTS_GPU_SERVE_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

/* Set by "stop", "quit", end of input and SIGTERM. */
inline std::atomic<bool> stop_requested{false};

/* CLOCK_MONOTONIC, in seconds: comparable with other processes. */
inline double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* A thread reads the orders, so that "stop" is seen in the middle of a run. */
class Orders {
public:
    Orders() { std::thread(&Orders::read, this).detach(); }

    /* The next order other than "stop"; "quit" at the end of input. */
    std::string next()
    {
        std::unique_lock<std::mutex> guard(lock_);
        arrived_.wait(guard, [this] { return !orders_.empty(); });
        std::string order = orders_.front();
        orders_.pop_front();
        if (order != "quit")
            stop_requested = false;
        return order;
    }

private:
    std::mutex lock_;
    std::condition_variable arrived_;
    std::deque<std::string> orders_;

    void read()
    {
        std::string line;
        while (std::getline(std::cin, line) && line != "quit") {
            if (line == "stop")
                stop_requested = true;
            else
                push(line);
        }
        stop_requested = true;
        push("quit");
    }

    void push(const std::string &order)
    {
        std::lock_guard<std::mutex> guard(lock_);
        orders_.push_back(order);
        arrived_.notify_one();
    }
};

/* Prints the count twenty times a second, also while the program is blocked. */
class Ticker {
public:
    Ticker(bool enabled, const std::atomic<unsigned long long> &count) : count_(count)
    {
        if (enabled)
            thread_ = std::thread(&Ticker::tick, this);
    }

    ~Ticker()
    {
        if (!thread_.joinable())
            return;
        {
            std::lock_guard<std::mutex> guard(lock_);
            done_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

private:
    const std::atomic<unsigned long long> &count_;
    std::mutex lock_;
    std::condition_variable wake_;
    bool done_ = false;
    std::thread thread_;

    void tick()
    {
        std::unique_lock<std::mutex> guard(lock_);
        do {
            std::printf("{\"event\": \"tick\", \"t\": %.6f, \"n\": %llu}\n", now(), count_.load());
            std::fflush(stdout);
        } while (!wake_.wait_for(guard, std::chrono::milliseconds(50), [this] { return done_; }));
    }
};

/*
 * Says that the program is ready, @facts about it included (JSON members, each after a comma), and calls
 * run(verb, amount, warm_up) for each order until "quit", or until it returns false.
 */
template <typename Run> int serve_orders(const std::string &facts, Run run)
{
    static Orders &orders = *new Orders; /* its thread may outlive us */
    std::printf("{\"event\": \"ready\", \"pid\": %d%s}\n", static_cast<int>(getpid()), facts.c_str());
    std::fflush(stdout);
    for (;;) {
        std::istringstream order(orders.next());
        std::string verb;
        double amount = 0, warm_up = 0;
        order >> verb >> amount >> warm_up;
        if (verb == "quit")
            return 0;
        if (!run(verb, amount, warm_up))
            return 1;
    }
}

inline void on_terminate(int)
{
    stop_requested = true;
}

inline double percentile(const std::vector<float> &sorted, double fraction)
{
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(fraction * (sorted.size() - 1) + 0.5)];
}

#endif /* PTSCHED_TESTS_GPU_SERVE_HPP */
