// SPDX-License-Identifier: MIT
/* Turns on a device, given out by a broker, between this process and another. */
#include "tests/device/rival.hpp"
#include "tests/device/work.hpp"
#include <ptsched/device/turns.hpp>

#include <atomic>
#include <future>
#include <thread>

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

/* What is told of work that stays, and when it is there. */
class Stay {
public:
    Stay()
        : turns_(Turns::open(gpu(), Attach::required, {.recalled = [this] { recalled_.set_value(); }},
                             [this] { return device::Activity{.busy_ns = busy_ns_.load(), .pieces = pieces_.load()}; }))
    {
        CHECK(turns_->wait_to_begin());
    }

    void lasts() { std::this_thread::sleep_for(span); }
    void works(std::chrono::nanoseconds time, std::uint64_t pieces)
    {
        pieces_ += pieces;
        busy_ns_ += static_cast<std::uint64_t>(time.count());
    }
    void wait_until_recalled() { recalled_.get_future().wait(); }
    void ends() { turns_->ended(); }
    void quits() { turns_->quit(); }

    static constexpr std::chrono::milliseconds span{10};

private:
    std::atomic<std::uint64_t> busy_ns_{0}, pieces_{0};
    std::promise<void> recalled_;
    std::unique_ptr<Turns> turns_;
};

void stays_alone()
{
    Broker broker;
    Stay stay;
    stay.lasts();
    stay.works(Stay::span / 2, 7);
    stay.ends();
    stay.quits();
    CHECK_EQ(broker.counter("gpu_ns"), std::uint64_t{5000000});
    CHECK_EQ(broker.counter("submissions"), std::uint64_t{7});
}

void stays_idle()
{
    Broker broker;
    Stay stay;
    stay.lasts();
    stay.ends();
    stay.quits();
    CHECK_EQ(broker.counter("gpu_ns"), std::uint64_t{0});
    CHECK(broker.counter("held_ns") >= 10000000);
}

/* It keeps another from the device, whether it works or not. */
void stays_while_others_wait()
{
    Broker broker;
    Rival rival;
    Stay stay;
    rival.tell('t');
    stay.wait_until_recalled();
    stay.lasts();
    stay.ends();
    CHECK(rival.told() == 'h');
    CHECK(broker.counter("gpu_ns") >= 10000000);
    CHECK_EQ(broker.counter("submissions"), std::uint64_t{0});
    rival.tell('g');
    stay.quits();
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
            {"work that stays, alone, is charged for what it does", stays_alone},
            {"work that stays, alone, costs nothing while it has nothing to do", stays_idle},
            {"work that stays is charged for that while others wait", stays_while_others_wait},
            {"turns without a scheduler", without_a_scheduler},
            {"turns when the scheduler ends", when_the_scheduler_ends}};
}
