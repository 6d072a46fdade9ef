// SPDX-License-Identifier: MIT
/* A runtime has its devices by turns: called back, it gives nothing more, and loses nothing. */
#include "tests/device/rival.hpp"
#include "tests/tasks/gpu/cases.hpp"

using namespace test;
using tasks::in, tasks::inout, tasks::out;

namespace {

tasks::Options by_turns()
{
    tasks::Options options = Core::first_gpu();
    options.attach = device::Attach::required;
    return options;
}

void called_back()
{
    Broker broker;
    Rival rival;
    Core core(by_turns());
    std::vector<float> x(64, 1);
    Node *last = nullptr;
    for (unsigned round = 0; round < 5; round++) {
        Held held;
        Node &wait = core.give({}, held.task());
        rival.tell('t');
        /* What is there ends first; what comes is not given. */
        Node &next = core.ready({inout(x), inout(x)}, add_up(), {&wait});
        core.until([&] {
            held.end();
            return wait.ended;
        });
        core.until([&, told = false]() mutable { return told || (told = rival.told() == 'h'); });
        const bool was_given = next.given;
        while (core.side().serve())
            ;
        CHECK_EQ(next.given, was_given);
        CHECK(core.side().is_busy() || next.ended);
        const unsigned before = core.wakes;
        rival.tell('g');
        if (!was_given)
            core.until([&] { return core.wakes > before; });
        core.until([&] { return next.ended; });
        last = &next;
    }
    core.finish();
    CHECK(last && !last->failure);
    CHECK(all_are(x, 32));
}

/* Copies to the host wait for a turn, too. */
void comes_home_in_a_turn()
{
    Broker broker;
    Rival rival;
    Core core(by_turns());
    std::vector<float> x(64, 1);
    core.end(core.give({inout(x), inout(x)}, add_up()));
    core.until([&] { return !core.side().serve(); });
    rival.tell('t');
    CHECK(rival.told() == 'h');
    for (unsigned i = 0; i < 100; i++) {
        CHECK(!core.side().bring_home(nullptr));
        core.side().serve();
    }
    CHECK(core.side().is_busy());
    CHECK_EQ(core.state().bytes_to_host, std::uint64_t{0});
    rival.tell('g');
    core.finish();
    CHECK(all_are(x, 2));
    CHECK(!core.side().is_busy());
    /* And a task of the host. */
    core.end(core.give({inout(x), inout(x)}, add_up()));
    core.until([&] { return !core.side().serve(); });
    rival.tell('t');
    CHECK(rival.told() == 'h');
    std::thread gives_back([&] { rival.tell('g'); });
    core.host({in(x)});
    gives_back.join();
    CHECK(all_are(x, 4));
}

void without_a_scheduler()
{
    setenv("PTSCHED_DEVICE_NODE", "/nowhere", 1);
    setenv("PTSCHED_SOCKET", "/nowhere", 1);
    CHECK(refused([] { Core core(by_turns()); }, {"program", "to be scheduled"}));
    tasks::Options options = by_turns();
    options.attach = device::Attach::if_possible;
    Core core(options);
    std::vector<float> x(64, 1);
    core.give({inout(x), inout(x)}, add_up());
    core.finish();
    CHECK(all_are(x, 2));
}

} // namespace

std::vector<tap::Case> test::visit_cases()
{
    return {{"called back again and again, nothing is lost", called_back},
            {"what comes home needs a turn", comes_home_in_a_turn},
            {"a runtime that is to be scheduled, and is not", without_a_scheduler}};
}
