// SPDX-License-Identifier: MIT
#include "samples/pool/citizen/roles.hpp"

#include "samples/common/program.hpp"
#include "samples/pool/citizen/chains.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/ptsched.hpp>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <sstream>
#include <thread>

namespace ptsched::pool::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/* @run takes how many steps it is to do. The least of some times, so that what happens besides does not count. */
template <typename Run> double least_seconds(Run run, unsigned steps)
{
    double least = 1e9;
    for (unsigned i = 0; i < 5; i++) {
        const auto begin = Clock::now();
        run(steps);
        least = std::min(least, seconds_since(begin));
    }
    return least;
}

/* What is there besides steps takes as long as a run of one. */
template <typename Run> unsigned steps_in(Run run, double seconds, bool with_the_rest)
{
    constexpr unsigned many = 100000;
    const double rest = least_seconds(run, 1), step = (least_seconds(run, many) - rest) / many;
    return static_cast<unsigned>(std::max(1.0, (seconds - (with_the_rest ? rest : 0)) / std::max(step, 1e-12)));
}

/* @answer gets the words of each order; what it returns is printed. */
template <typename Answer> void obey(Answer answer)
{
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string order;
        words >> order;
        std::cout << answer(order, words) << std::endl;
    }
}

[[noreturn]] void refuse(const std::string &what)
{
    throw Error("there is no " + what);
}

/* One kernel at a time, as of a program that knows nothing of pools. */
class Loop {
public:
    explicit Loop(const std::string &module)
        : gpu_(samples::first_gpu()), code_(device::cuda_code(gpu_, module, "one_chain")), queue_(gpu_.make_queue()),
          value_(device::Allocation::on_device(gpu_, sizeof(unsigned long long)))
    {
    }

    /* Launch and wait are a part of it. */
    unsigned steps(double microseconds)
    {
        set(0);
        return steps_in([this](unsigned steps) { once(steps); }, microseconds * 1e-6, true);
    }

    double run(unsigned steps, double seconds)
    {
        set(0);
        const auto begin = Clock::now();
        unsigned long long count = 0;
        do {
            once(steps);
            count++;
        } while (seconds_since(begin) < seconds);
        const double taken = seconds_since(begin);
        if (value() != Walk(count * steps).from(0))
            throw Error("the loop's result is wrong");
        return static_cast<double>(count) / taken;
    }

private:
    void once(unsigned steps)
    {
        const device::Address at = value_.address();
        queue_->run(*code_, {{1, 1, 1}, {32, 1, 1}}, {const_cast<device::Address *>(&at), &steps});
        queue_->finish();
    }
    void set(unsigned long long value)
    {
        queue_->upload(value_.address(), &value, sizeof(value));
        queue_->finish();
    }
    unsigned long long value()
    {
        unsigned long long value = 0;
        queue_->download(&value, value_.address(), sizeof(value));
        queue_->finish();
        return value;
    }

    device::Device &gpu_;
    const std::unique_ptr<device::Code> code_;
    const std::unique_ptr<device::Queue> queue_;
    const device::Allocation value_;
};

/* A pool that always has something to do, while it is to. */
class Worker {
public:
    Worker(const Options &options, unsigned steps)
        : chains_(steps), pool_(options), pushes_([this] { watch([this] { push(); }); }),
          pops_([this] { watch([this] { pop(); }); })
    {
    }
    ~Worker()
    {
        ends_ = true;
        works_ = true;
        works_.notify_all();
        pool_.stop();
        pushes_.join();
        pops_.join();
    }
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    void work()
    {
        works_ = true;
        works_.notify_all();
        again();
    }

    /* Waits until it is there by another launch, with something to do. Returns how long it took to leave before. */
    std::chrono::nanoseconds again()
    {
        wait([this](const State &state) { return state.launches > launches_ && state.in_slots; });
        launches_ = pool_.state().launches;
        return pool_.state().last_park;
    }

    State rest()
    {
        works_ = false;
        wait([this](const State &state) { return pauses_ && !state.resident && !pool_.unfinished(); });
        launches_ = pool_.state().launches;
        return pool_.state();
    }

private:
    template <typename Condition> void wait(Condition condition)
    {
        const auto until = Clock::now() + 50s;
        while (!condition(pool_.state())) {
            if (is_wrong_)
                throw Error(wrong_);
            if (Clock::now() > until)
                throw Error("the pool does not get on");
            std::this_thread::sleep_for(20us);
        }
    }

    template <typename Work> void watch(Work work)
    {
        try {
            work();
        } catch (const std::exception &error) {
            /* A pool that is stopped says so to who pushes. */
            if (ends_ || is_told_.exchange(true))
                return;
            wrong_ = error.what();
            is_wrong_ = true;
        }
    }

    void push()
    {
        std::vector<Chain> tasks(at_once);
        for (unsigned number = 0; !ends_;) {
            if (!works_) {
                pauses_ = true;
                works_.wait(false);
                pauses_ = false;
                continue;
            }
            for (Chain &task : tasks)
                task = chains_.make(number++);
            pool_.push_all(std::span<const Chain>(tasks));
        }
    }

    void pop()
    {
        std::vector<Chain> tasks(at_once);
        while (const std::size_t count = pool_.pop_some(tasks))
            for (std::size_t i = 0; i < count; i++)
                chains_.check(tasks[i]);
    }

    static constexpr std::size_t at_once = 64;

    const Chains chains_;
    Pool<Chain> pool_;
    std::atomic<bool> works_{false}, pauses_{false}, ends_{false}, is_told_{false}, is_wrong_{false};
    std::string wrong_; /* before it is said to be */
    std::uint64_t launches_ = 0;
    std::thread pushes_, pops_;
};

void play_loop(const std::vector<std::string> &words)
{
    Loop loop(words.at(1));
    obey([&](const std::string &order, std::istream &more) {
        double microseconds = 0, seconds = 0;
        unsigned steps = 0;
        if (order == "steps" && more >> microseconds)
            return std::to_string(loop.steps(microseconds));
        if (order == "run" && more >> steps >> seconds)
            return std::to_string(loop.run(steps, seconds));
        refuse("order " + order);
    });
}

void play_pool(const std::vector<std::string> &words)
{
    const auto number = [&](std::size_t i) { return static_cast<unsigned>(std::stoul(words.at(i))); };
    Options options = options_for(samples::first_gpu(), words.at(1), "chains", {number(2), number(3)});
    options.attach = words.at(5) == "attach" ? Attach::required : Attach::no;
    Worker worker(options, number(4));
    obey([&](const std::string &order, std::istream &) -> std::string {
        if (order == "work") {
            worker.work();
            return "works";
        }
        if (order == "again")
            return std::to_string(worker.again().count());
        if (order != "rest")
            refuse("order " + order);
        const State state = worker.rest();
        return std::to_string(state.on_devices) + " " + std::to_string(state.launches) + " " +
               std::to_string(state.parks);
    });
}

void play_rival(const std::vector<std::string> &words)
{
    Client client(words.at(1));
    obey([&](const std::string &order, std::istream &) {
        if (order != "take")
            refuse("order " + order);
        const Turn turn(client);
        return std::to_string(turn.waited_ns());
    });
}

} // namespace

Options options_for(device::Device &gpu, const std::string &module, const std::string &kernel, const Size &size)
{
    return {
        .kernel = [=](device::Device &one) { return device::cuda_code(one, module, kernel); },
        .devices = {&gpu},
        .threads = size.threads,
        .blocks = size.blocks,
        .idle = 5ms,
    };
}

unsigned steps_of_task(device::Device &gpu, const std::string &module, double microseconds)
{
    Pool<Chain> pool(options_for(gpu, module, "chains", {1, 32}));
    const auto run = [&](unsigned steps) {
        pool.push(Chain{0, steps, 0});
        pool.pop();
    };
    return steps_in(run, microseconds * 1e-6, false);
}

void play_role(const std::vector<std::string> &words)
{
    const std::string &role = words.at(0);
    if (role == "loop")
        play_loop(words);
    else if (role == "pool")
        play_pool(words);
    else if (role == "rival")
        play_rival(words);
    else
        refuse("role " + role);
}

} // namespace ptsched::pool::bench
