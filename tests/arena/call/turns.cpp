// SPDX-License-Identifier: MIT
/* Attached, calls run in ptsched's turns. */
#include "tests/arena/call/cases.hpp"
#include "tests/device/rival.hpp"

#include <atomic>
#include <thread>

using namespace test;
using arena::Calls;
using namespace std::chrono_literals;

namespace {

/* While somebody else has the device, a call waits; it is there, with its result, when that has gone. */
void in_turns()
{
    Broker broker;
    Rival rival;
    auto options = options_for();
    options.attach = device::Attach::required;
    options.idle = 1h;
    Calls calls(options);
    const auto add = calls.function<int(int, int)>("add");
    for (int round = 0; round < 5; round++) {
        CHECK_EQ(add(round, 1), round + 1);
        rival.tell('t');
        CHECK(rival.told() == 'h');
        arena::Call<int> call = add.start(round, 2);
        CHECK(!call.ready());
        rival.tell('g');
        CHECK_EQ(call.get(), round + 2);
    }
}

void spread_in_turns()
{
    Broker broker;
    Rival rival;
    auto options = options_for();
    options.attach = device::Attach::required;
    Calls calls(options);
    const auto add = calls.function<int(int, int)>("add", {.blocks = 2, .threads = 32});
    CHECK_EQ(add(1, 2), 3);
    rival.tell('t');
    CHECK(rival.told() == 'h');
    std::atomic<bool> called{false};
    std::jthread calls_it([&] {
        CHECK_EQ(add(3, 4), 7);
        called = true;
    });
    CHECK(!called);
    rival.tell('g');
    calls_it.join();
    CHECK(called);
}

void without_a_scheduler()
{
    setenv("PTSCHED_DEVICE_NODE", "/nowhere", 1);
    setenv("PTSCHED_SOCKET", "/nowhere", 1);
    auto options = options_for();
    options.attach = device::Attach::required;
    CHECK(refused([&] { Calls calls(options); }, {"to be scheduled"}));
    options.attach = device::Attach::if_possible;
    Calls calls(options);
    CHECK_EQ(calls.function<int(int, int)>("add")(1, 2), 3);
}

} // namespace

std::vector<tap::Case> test::turn_cases()
{
    return {{"calls in turns", in_turns},
            {"calls that are spread, in turns", spread_in_turns},
            {"calls that are to be scheduled, and are not", without_a_scheduler}};
}
