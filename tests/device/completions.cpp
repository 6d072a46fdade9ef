// SPDX-License-Identifier: MIT
/* Call-backs for the ends of work. */
#include "tests/device/work.hpp"
#include "tests/graph_clock.hpp"
#include "tests/host_flag.h"
#include "tests/ptask/child.hpp"
#include <ptsched/base/chrono_clock.hpp>
#include <ptsched/device/completions.hpp>

#include <future>
#include <thread>

using namespace test;
using device::Completions;
using std::chrono::nanoseconds;

namespace {

/* Reached when the test says so; counts how often it is asked. */
class Manual final : public device::Marker {
public:
    bool reached() override
    {
        asked++;
        if (failed)
            throw ptsched::Error("it has failed");
        return there;
    }
    void wait() override {}
    std::atomic<bool> there{false}, failed{false};
    std::atomic<unsigned> asked{0};
};

void of_a_gpu_and_the_host()
{
    Adder adder(gpu());
    auto sum = adder.add(filled(1, 1024), filled(2, 1024));
    auto queue = device::host().make_queue();
    auto work = device::host_code([](const std::vector<void *> &) {});
    queue->run(*work, {}, {});
    Completions completions;
    std::atomic<unsigned> done{0}, failed{0};
    for (const device::MarkerPtr &marker : {adder.queue->mark(), queue->mark()})
        completions.when(marker, [&](std::exception_ptr failure) { (failure ? failed : done)++; });
    completions.drain();
    CHECK_EQ(done.load(), 2u);
    CHECK_EQ(failed.load(), 0u);
    CHECK_EQ(completions.waiting(), std::size_t{0});
}

/* A kernel does not end before the test lets it. */
void not_before_the_end()
{
    auto code = device::cuda_code(gpu(), kernels(), "wait_for_host");
    auto queue = gpu().make_queue();
    auto seen = device::Datablock::empty(sizeof(unsigned));
    HostFlag flag;
    device::Address flag_address = HostFlag::address(), seen_address = seen->produce(gpu(), *queue);
    queue->run(*code, {}, {&flag_address, &seen_address});
    seen->written(queue->mark());
    Completions completions;
    std::atomic<bool> was_raised{false};
    completions.when(queue->mark(), [&](std::exception_ptr) { was_raised = flag.is_raised(); });
    CHECK(!completions.drain_for(nanoseconds(0)));
    CHECK_EQ(completions.waiting(), std::size_t{1});
    flag.raise();
    completions.drain();
    CHECK(was_raised);
}

void failures_are_told()
{
    auto marker = std::make_shared<Manual>();
    Completions completions;
    std::string told;
    marker->failed = true;
    completions.when(marker, [&](std::exception_ptr failure) {
        try {
            std::rethrow_exception(failure);
        } catch (const ptsched::Error &error) {
            told = error.what();
        }
    });
    completions.drain();
    CHECK(told == "it has failed");
}

/* Of work that is to take long it is not asked for most of that. */
void looks_are_by_what_it_takes()
{
    GraphClock clock;
    auto slow = std::make_shared<Manual>(), fast = std::make_shared<Manual>();
    Completions completions, others;
    fast->there = true;
    auto look = [&] {
        others.when(fast, [](std::exception_ptr) {});
        clock.advance(std::chrono::milliseconds(1));
        others.drain();
    };
    completions.when(
        slow, [](std::exception_ptr) {}, std::chrono::seconds(10));
    for (unsigned i = 0; i < 10; i++)
        look();
    CHECK_EQ(slow->asked.load(), 0u);
    clock.advance(std::chrono::seconds(10));
    look();
    look();
    CHECK(slow->asked >= 1u);
    slow->there = true;
    clock.advance(std::chrono::seconds(1));
    completions.drain();
    /* At each turn of the clock once at most. */
    CHECK(slow->asked <= 4u);
}

/* From within others, and none is lost. */
void chains_end()
{
    auto marker = std::make_shared<Manual>();
    marker->there = true;
    Completions completions;
    std::atomic<unsigned> left{100};
    std::function<void(std::exception_ptr)> next = [&](std::exception_ptr) {
        if (--left)
            completions.when(marker, next);
    };
    completions.when(marker, next);
    completions.drain();
    CHECK_EQ(left.load(), 0u);
}

void from_many_threads()
{
    constexpr unsigned threads = 4, each = 500;
    std::atomic<unsigned> called{0};
    {
        Completions completions;
        std::vector<std::jthread> all;
        for (unsigned t = 0; t < threads; t++)
            all.emplace_back([&] {
                for (unsigned i = 0; i < each; i++) {
                    auto marker = std::make_shared<Manual>();
                    completions.when(marker, [&](std::exception_ptr) { called++; });
                    marker->there = true;
                }
            });
    }
    /* Its end has waited for all. */
    CHECK_EQ(called.load(), threads * each);
}

void what_is_refused()
{
    auto marker = std::make_shared<Manual>();
    Completions completions(2);
    auto nothing = [](std::exception_ptr) {};
    completions.when(marker, nothing);
    completions.when(marker, nothing);
    CHECK(refused([&] { completions.when(marker, nothing); }, {"2 call-backs"}));
    CHECK(refused([&] { completions.when(nullptr, nothing); }, {"null"}));
    CHECK(refused([&] { completions.when(marker, {}); }, {"empty function"}));
    marker->there = true;
    completions.drain();
    std::promise<bool> was_refused;
    completions.when(marker, [&](std::exception_ptr) {
        was_refused.set_value(refused([&] { completions.drain(); }, {"its own included"}));
    });
    CHECK(was_refused.get_future().get());
}

void what_is_thrown_comes_to_who_waits()
{
    auto marker = std::make_shared<Manual>();
    marker->there = true;
    Completions completions;
    completions.when(marker, [](std::exception_ptr) { throw ptsched::Error("a call-back has failed"); });
    CHECK(refused([&] { completions.drain(); }, {"a call-back has failed"}));
    completions.drain();
    completions.when(marker, [](std::exception_ptr) { throw 1; });
}

/* A child has none of the work and not the thread; its own is looked after. */
void in_a_forked_child()
{
    GraphClock clock;
    auto marker = std::make_shared<Manual>();
    Completions completions;
    unsigned called = 0;
    completions.when(
        marker, [&](std::exception_ptr) { called++; }, std::chrono::hours(1));
    const pid_t child = fork();
    if (!child) {
        bool good = !completions.waiting();
        auto own = std::make_shared<Manual>();
        own->there = true;
        completions.when(own, [&](std::exception_ptr) { called += 10; });
        clock.advance(std::chrono::seconds(1));
        completions.drain();
        _exit(good && called == 10 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    marker->there = true;
    clock.advance(std::chrono::hours(2));
    completions.drain();
    CHECK_EQ(called, 1u);
}

} // namespace

std::vector<tap::Case> test::completion_cases()
{
    return {{"ends of work on a GPU and the host", of_a_gpu_and_the_host},
            {"a call-back comes after the end", not_before_the_end},
            {"a call-back is told of failures", failures_are_told},
            {"work that takes long is rarely looked at", looks_are_by_what_it_takes},
            {"call-backs that wait for more", chains_end},
            {"call-backs of many threads are all called", from_many_threads},
            {"call-backs that are refused", what_is_refused},
            {"what call-backs throw", what_is_thrown_comes_to_who_waits},
            {"call-backs in a forked child", in_a_forked_child, no_threads_in_children}};
}
