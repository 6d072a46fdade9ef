// SPDX-License-Identifier: MIT
/* Fuzz target: what libptsched reads from the broker. An input is what a broker says, and the calls of a program. */
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/fuzz_clock.hpp"
#include "tests/fuzz/scripted_broker.hpp"
#include <ptsched/ptsched.h>

#include <poll.h>

namespace {

constexpr unsigned kMostCalls = 64;

fuzz::ScriptedBroker *broker;

int call(ptsched_client *client, fuzz_input &input)
{
    struct ptsched_query query {};
    struct ptsched_acquire acquired {};
    const ptsched_usage usage{fuzz_time(&input), 0, fuzz_byte(&input)};
    query.size = sizeof(query);
    switch (fuzz_below(&input, 10)) {
    case 0:
        return ptsched_query(client, &query);
    case 1:
        return ptsched_acquire(client, PTSCHED_NEVER, fuzz_below(&input, 2) ? PTSCHED_ACQUIRE_ABOVE : 0, &acquired);
    case 2:
        return ptsched_acquire(client, fuzz_time(&input), PTSCHED_ACQUIRE_TRY, nullptr);
    case 3:
        return ptsched_release(client, &usage);
    case 4:
        return ptsched_report(client, &usage);
    case 5:
        return ptsched_ack(client, fuzz_byte(&input), fuzz_time(&input));
    case 6:
        return ptsched_act_for(client, fuzz_below(&input, 3), STDERR_FILENO);
    case 7:
        return ptsched_set_mechanism(client, fuzz_below(&input, 5));
    case 8:
        return ptsched_set_group(client, fuzz_below(&input, 2) ? "ranks" : nullptr);
    default: {
        int fd = ptsched_hand_over(client);
        return fd > 0 ? 0 : fd;
    }
    }
}

void use(ptsched_client *client, fuzz_input &input)
{
    for (unsigned i = 0; i < kMostCalls && !fuzz_is_empty(&input); i++)
        CHECK(call(client, input) <= 0);
    CHECK(ptsched_client_page(client) != nullptr);
    /* Of the page, a program reads at any time. */
    const std::uint32_t state = ptsched_state(ptsched_client_page(client));
    pollfd event{.fd = ptsched_poll_fd(client), .events = POLLIN, .revents = 0};
    poll(&event, 1, 0);
    CHECK(ptsched_strerror(-static_cast<int>(state & 255)) != nullptr);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    broker = new fuzz::ScriptedBroker;
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    fuzz_input input{data, data + size};
    fuzz_clock::reset();
    broker->will_say(fuzz::read_script(input), {});
    ptsched_client *client = nullptr;
    const int ret = ptsched_open("ffff:01:00.0", PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &client);
    CHECK(ret <= 0 && (client != nullptr) == (ret == 0));
    if (client)
        use(client, input);
    ptsched_close(client);
    broker->rest();
    return 0;
}
