// SPDX-License-Identifier: MIT
/* Signals are the program's: threads of the library take none, from their first instruction on. */
#include "libptsched/base/worker.hpp"
#include "libptsched/ptask/replay/launch_thread.hpp"
#include "tests/ptask/child.hpp"
#include "tests/ptask/ptask_test.hpp"

#include <csignal>
#include <future>
#include <sched.h>

namespace test {

using ptsched::Stop;
using ptsched::Worker;

namespace {

/* Threads that are made as long as this lives begin when their maker waits, mostly. */
class OneProcessor {
public:
    OneProcessor()
    {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
        sched_getaffinity(0, sizeof(before_), &before_);
        sched_setaffinity(0, sizeof(one), &one);
    }
    ~OneProcessor() { sched_setaffinity(0, sizeof(before_), &before_); }
    OneProcessor(const OneProcessor &) = delete;
    OneProcessor &operator=(const OneProcessor &) = delete;

private:
    cpu_set_t before_;
};

/*
 * Whether a signal that comes while there are the threads that @make makes is left to this one, which wants it later.
 */
template <typename Make> bool leave_signals(Make make)
{
    constexpr timespec at_once = {};
    sigset_t user, before;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    {
        OneProcessor one;
        const auto made = make();
        pthread_sigmask(SIG_BLOCK, &user, &before);
        kill(getpid(), SIGUSR1);
    }
    const bool left = sigtimedwait(&user, nullptr, &at_once) == SIGUSR1;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return left;
}

bool workers_do()
{
    return leave_signals([] { return std::make_unique<Worker>([](const Stop &) {}); });
}

bool launchers_do()
{
    ptsched::Mutex mutex;
    return leave_signals(
        [&] { return std::make_unique<LaunchThread>(mutex, [](ptsched::Lock &, ReplayedSubgraph &) {}); });
}

/* Those that run functions of the host stay after it. */
bool graphs_do()
{
    return leave_signals([] {
        auto graph = std::make_unique<Graph>();
        Task &task = graph->host("task", [](const Arguments &) {}, {in("x", Template::of<int>(1))});
        Input &x = graph->input(task["x"]);
        graph->run();
        x.push_value(1);
        return graph;
    });
}

/* As who protects memory asks for: else the process would end without the program's handler. */
void what_they_raise_is_handled()
{
    std::promise<sigset_t> told;
    const Worker worker([&](const Stop &) {
        sigset_t mask;
        pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        told.set_value(mask);
    });
    const sigset_t mask = told.get_future().get();
    CHECK(sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGTERM));
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
        CHECK(!sigismember(&mask, own));
}

} // namespace

Cases own_thread_cases()
{
    return {{"threads that wait for descriptors take no signals", [] { check_in_a_child(workers_do); },
             no_threads_in_children},
            {"nor do those that give a GPU its sets", [] { check_in_a_child(launchers_do); }, no_threads_in_children},
            {"nor do those of a graph and of the host",
             [] {
                 /* The driver's threads are made by who asks for it first, and are not the library's. */
                 ptsched::device::gpus();
                 check_in_a_child(graphs_do);
             },
             no_threads_in_children},
            {"but those that their own instructions raise", what_they_raise_is_handled}};
}

} // namespace test
