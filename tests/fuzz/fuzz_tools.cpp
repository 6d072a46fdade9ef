// SPDX-License-Identifier: MIT
/*
 * Fuzz target: what the tool ptsched reads from the broker and from netlink, up to what it prints. An input is a
 * command, and what the scheduler says.
 */
#include "tests/fuzz/fake_netlink.hpp"
#include "tests/fuzz/scripted_broker.hpp"
#include "tools/ptsched/commands.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

fuzz::ScriptedBroker *broker;

int command(std::uint8_t which, const ptsched::Choice &choice)
{
    switch (which % 9) {
    case 0:
        return ptsched::stat({.choice = choice, .device = "", .json = false});
    case 1:
        return ptsched::stat({.choice = choice, .device = "0", .json = true});
    case 2:
        return ptsched::set({.choice = choice, .device = "", .pid = "", .settings = {"policy=none", "slice=1ms"}});
    case 3:
        return ptsched::set({.choice = choice, .device = "0", .pid = "1", .settings = {"weight=7"}});
    case 4:
        return ptsched::events({.choice = choice, .device = "", .json = false, .count = "20"});
    case 5:
        return ptsched::events({.choice = choice, .device = "", .json = true, .count = "20"});
    case 6:
        return ptsched::stat({.choice = choice, .device = "", .accounts = true});
    case 7:
        return ptsched::stat({.choice = choice, .device = "", .openmetrics = true});
    default:
        return ptsched::set(
            {.choice = choice, .device = "", .pid = "", .user = "", .cgroup = "/a", .settings = {"weight=auto"}});
    }
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    broker = new fuzz::ScriptedBroker;
    /* It is there, as a node of the module would be. */
    setenv("PTSCHED_DEVICE_NODE", "/dev/null", 1);
    if (!freopen("/dev/null", "w", stdout))
        abort();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    fuzz_input input{data, data + size};
    const std::uint8_t which = fuzz_byte(&input);
    ptsched::Choice choice;
    choice.module = which & 128;
    if (choice.module) {
        fake_netlink::will_say(input);
    } else {
        choice.broker = broker->path();
        fuzz::Script first = fuzz::read_script(input);
        broker->will_say(std::move(first), fuzz::read_script(input));
    }
    try {
        command(which, choice);
    } catch (const ptsched::Error &) {
        /* Whatever is said, the tool ends with a sentence. */
    }
    broker->rest();
    return 0;
}
