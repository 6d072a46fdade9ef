// SPDX-License-Identifier: MIT
/* A window that shares its device with other processes copies in its turns. */
#include "tests/arena/cases.hpp"
#include "tests/device/rival.hpp"

#include <atomic>
#include <thread>

using namespace test;

namespace {

arena::Options attached(device::Attach how)
{
    arena::Options options = small();
    options.attach = how;
    return options;
}

void without_a_scheduler()
{
    CHECK(refused([] { Window window(attached(device::Attach::required)); }, {"scheduler"}));
    Window window(attached(device::Attach::if_possible));
    Arena own = window.owned_arena();
    auto *word = own.make<unsigned>(3u);
    own.acquire_ownership(Side::gpu());
    own.acquire_ownership(Side::host());
    CHECK_EQ(*word, 3u);
}

/* Somebody else has the device: a hand-over, and a fault, wait until that has gone. */
void in_turns()
{
    Broker broker;
    Rival rival;
    Window window(attached(device::Attach::required));
    Kernels kernels;
    Arena own = window.owned_arena();
    auto *node = own.make<Node>(nullptr, 5u, 0u);
    std::atomic<bool> given{false};
    auto beside_rival = [&](auto use) {
        bool was_given = false;
        given = false;
        rival.tell('t');
        CHECK(rival.told() == 'h');
        std::thread user([&] {
            use();
            was_given = given;
        });
        given = true;
        rival.tell('g');
        user.join();
        CHECK(was_given);
    };
    beside_rival([&] { own.acquire_ownership(Side::gpu()); });
    CHECK_EQ(kernels.walk(node, 10), 5u);
    beside_rival([&] { CHECK_EQ(node->written, 15u); });
    CHECK(!own.owner());
    CHECK(broker.counter("turns") >= 2);
}

} // namespace

std::vector<tap::Case> test::turn_cases()
{
    return {
        {"turns without a scheduler", without_a_scheduler},
        {"copies in turns", in_turns},
    };
}
