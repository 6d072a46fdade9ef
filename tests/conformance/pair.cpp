// SPDX-License-Identifier: MIT
/*
 * What the scheduler costs: an acquire-release pair against a write and read of an
 * eventfd, and a look at the page as a submission makes it.
 */
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <vector>

namespace {

constexpr int kRounds = 15;
constexpr int kCallsPerRound = 2000;
constexpr int kLooksPerRound = 1000000;

struct Cost {
    double ns;
    double instructions; /* negative: this machine does not count them */
};

ptsched::UniqueFd instruction_counter()
{
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    return ptsched::UniqueFd(static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0)));
}

std::uint64_t count(const ptsched::UniqueFd &counter)
{
    std::uint64_t value = 0;
    return counter && read(counter.get(), &value, sizeof(value)) == sizeof(value) ? value : 0;
}

/* The median round, per call. */
template <typename Function> Cost measure(int calls, Function function)
{
    static const ptsched::UniqueFd counter = instruction_counter();
    std::vector<double> times, instructions;
    for (int round = 0; round < kRounds; round++) {
        std::uint64_t counted = count(counter);
        std::uint64_t start = ptsched::monotonic_ns();
        for (int i = 0; i < calls; i++)
            function();
        times.push_back(static_cast<double>(ptsched::monotonic_ns() - start) / calls);
        instructions.push_back(static_cast<double>(count(counter) - counted) / calls);
    }
    std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
    std::nth_element(instructions.begin(), instructions.begin() + kRounds / 2, instructions.end());
    return {times[kRounds / 2], counter ? instructions[kRounds / 2] : -1};
}

void print(const char *name, const Cost &cost, const Cost &against)
{
    printf("%-28s %10.1f ns  %6.2f x eventfd", name, cost.ns, cost.ns / against.ns);
    if (cost.instructions >= 0)
        printf("  %10.0f instructions", cost.instructions);
    putchar('\n');
}

void run()
{
    ptsched_client *client;
    int ret = ptsched_open(scheduler::kDevice, PTSCHED_MECHANISM_GATE, scheduler::backend(), &client);
    if (ret)
        throw tap::Failure(std::string("no scheduler: ") + strerror(-ret));
    ptsched::UniqueFd event(eventfd(0, EFD_CLOEXEC));
    Cost eventfd_pair = measure(kCallsPerRound, [&] {
        std::uint64_t value = 1;
        if (write(event.get(), &value, sizeof(value)) < 0 || read(event.get(), &value, sizeof(value)) < 0)
            throw tap::Failure("eventfd");
    });
    Cost pair = measure(kCallsPerRound, [&] {
        if (ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr) || ptsched_release(client, nullptr))
            throw tap::Failure("acquire or release");
    });
    if (ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr))
        throw tap::Failure("acquire");
    const ptsched_page *page = ptsched_client_page(client);
    constexpr std::uint32_t mask = PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK;
    std::uint64_t submissions = 0;
    Cost look = measure(kLooksPerRound, [&] {
        __atomic_fetch_add(&submissions, (ptsched_state(page) & mask) == PTSCHED_STATE_TURN, __ATOMIC_RELAXED);
    });
    bool in_order = submissions == static_cast<std::uint64_t>(kRounds) * kLooksPerRound;
    ptsched_close(client);
    if (!in_order)
        throw tap::Failure("the turn was called back although nobody wanted it");
    print("eventfd write and read", eventfd_pair, eventfd_pair);
    print("acquire and release", pair, eventfd_pair);
    print("submission inside a turn", look, eventfd_pair);
}

} // namespace

int main(int argc, char **argv)
{
    std::string name = argv[0];
    bool module = name.find("-module") != name.npos;
    if (argc == 2 && !strcmp(argv[1], "--module"))
        module = true;
    else if (argc != 1) {
        fputs("usage: pair [--module]\nBy default the broker beside this program.\n", stderr);
        return 2;
    }
    try {
        if (module)
            scheduler::use_module();
        else
            scheduler::start_broker(scheduler::default_broker());
        run();
        scheduler::stop_broker();
        return 0;
    } catch (const std::exception &error) {
        fprintf(stderr, "pair: %s\n", error.what());
        return 1;
    }
}
