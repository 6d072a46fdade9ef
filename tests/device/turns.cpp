// SPDX-License-Identifier: MIT
/* Turns on a device, given out by a broker, between this process and another. */
#include "tests/device/rival.hpp"
#include "tests/device/work.hpp"
#include <ptsched/device/turns.hpp>

#include <atomic>
#include <future>

using namespace test;
using device::Attach;
using device::Turns;

namespace {

std::promise<void> once(std::promise<void> &promise)
{
    return std::exchange(promise, {});
}

void recalled_for_another()
{
    Broker broker;
    Rival rival;
    std::promise<void> recalled, may_begin;
    std::atomic<unsigned> recalls{0};
    auto turns = Turns::open(gpu(), Attach::required,
                             {.may_begin = [&] { once(may_begin).set_value(); },
                              .recalled =
                                  [&] {
                                      recalls++;
                                      once(recalled).set_value();
                                  }});
    if (!CHECK(turns))
        return;
    auto is_recalled = recalled.get_future();
    CHECK(turns->wait_to_begin());
    CHECK(turns->begin());
    rival.tell('t');
    is_recalled.wait();
    /* What is on the device keeps the turn, and nothing comes to it. */
    CHECK(!turns->begin());
    turns->ended();
    turns->ended();
    CHECK(rival.told() == 'h');
    CHECK(!turns->wait_to_begin(std::chrono::nanoseconds(0)));
    rival.tell('g');
    CHECK(turns->wait_to_begin());
    CHECK_EQ(recalls.load(), 1u);
    turns->ended();
    turns->quit();
}

void without_a_scheduler()
{
    setenv("PTSCHED_DEVICE_NODE", "/nowhere", 1);
    setenv("PTSCHED_SOCKET", "/nowhere", 1);
    CHECK(!Turns::open(gpu(), Attach::no));
    CHECK(!Turns::open(gpu(), Attach::if_possible));
    CHECK(refused([] { Turns::open(gpu(), Attach::required, {.user = "farm"}); },
                  {"the farm is to be scheduled on", gpu().name()}));
    CHECK(refused([] { Turns::open(device::host(), Attach::required); }, {"host", "PCI"}));
}

/* Then nobody waits for it any more. */
void when_the_scheduler_ends()
{
    auto broker = std::make_unique<Broker>();
    Rival rival;
    auto turns = Turns::open(gpu(), Attach::required);
    rival.tell('t');
    CHECK(rival.told() == 'h');
    CHECK(!turns->begin());
    broker.reset();
    CHECK(turns->wait_to_begin());
    turns->ended();
    CHECK(turns->begin());
    turns->ended();
}

} // namespace

std::vector<tap::Case> test::turn_cases()
{
    return {{"a turn is recalled, and comes again", recalled_for_another},
            {"turns without a scheduler", without_a_scheduler},
            {"turns when the scheduler ends", when_the_scheduler_ends}};
}
