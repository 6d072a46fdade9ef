/* SPDX-License-Identifier: MIT */
/* Messages to the broker, made by choices: in order by themselves, at any time, and damaged. */
#ifndef PTSCHED_TEST_BROKER_MESSAGES_HPP
#define PTSCHED_TEST_BROKER_MESSAGES_HPP

#include "libptsched/client/broker_protocol.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/* Where choices come from: random numbers, or the input of a fuzz target. */
class Choices {
public:
    virtual ~Choices() = default;
    virtual unsigned below(unsigned limit) = 0;
    virtual std::uint64_t number() = 0;

    bool one_in(unsigned chance) { return below(chance) == 0; }
};

class BrokerMessages {
public:
    using Bytes = std::vector<char>;

    explicit BrokerMessages(Choices &choices) : choices_(choices) {}

    Bytes noise(std::size_t length);
    /* Of the contract, or for the helper. */
    Bytes contract_message();
    Bytes tool_message();
    void damage(Bytes &bytes);

private:
    Bytes message(std::uint32_t cmd, const Bytes &payload);
    template <typename Argument> void fill(Argument &argument);
    template <typename Argument> Bytes call(std::uint32_t number);
    Bytes channels_message();
    Bytes switch_message();
    Bytes share_message();
    const char *device();

    Choices &choices_;
};

#endif
