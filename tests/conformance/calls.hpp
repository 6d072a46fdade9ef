/* SPDX-License-Identifier: MIT */
/* All calls of the contract, each as its structure allows it. */
#ifndef PTSCHED_TEST_CALLS_HPP
#define PTSCHED_TEST_CALLS_HPP

#include "kmod/contract/arguments.h"
#include "tests/conformance/scheduler.hpp"

#include <cstring>
#include <type_traits>

template <typename Argument> Argument in_order()
{
    Argument argument{};
    argument.size = sizeof(argument);
    if constexpr (std::is_same_v<Argument, struct ptsched_attach>)
        strcpy(argument.device, scheduler::kDevice);
    if constexpr (std::is_same_v<Argument, struct ptsched_act_for>)
        argument.fd = -1;
    return argument;
}

template <typename Argument> int call_in_order(scheduler::RawClient &client, std::uint32_t number)
{
    auto argument = in_order<Argument>();
    return client.call(number, argument);
}

/* A row of kmod/contract/calls.h. */
struct Call {
    const char *name;
    std::uint32_t number;
    std::uint32_t first, size; /* of its structure, when it was new and now */
    ptsc_caller caller;
    int (*make)(scheduler::RawClient &client, std::uint32_t number);

    int in_order(scheduler::RawClient &client) const { return make(client, number); }
};

constexpr Call kCalls[] = {
#define PTSC_CALL(NAME, name, first, size, caller, is_valid)                                                           \
    {#NAME, PTSCHED_IOC_##NAME, first, size, caller, call_in_order<struct ptsched_##name>},
#include "kmod/contract/calls.h"
};

#endif
