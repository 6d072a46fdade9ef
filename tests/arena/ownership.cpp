// SPDX-License-Identifier: MIT
/*
 * What one side has written, the other finds when it has been handed over. PTSCHED_ARENA_NODES and PTSCHED_ARENA_ROUNDS
 * say how long the list is that goes back and forth, and how often.
 */
#include "tests/arena/cases.hpp"

#include <cerrno>
#include <unistd.h>

using namespace test;

namespace {

unsigned number_from(const char *variable, unsigned otherwise)
{
    const char *const text = std::getenv(variable);
    return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 0)) : otherwise;
}

Node *list_of(Arena &own, unsigned count)
{
    Node *list = nullptr;
    for (unsigned i = 0; i < count; i++)
        list = own.make<Node>(list, i, 0u);
    return list;
}

bool written_with(const Node *list, unsigned add)
{
    for (; list; list = list->next)
        if (list->written != list->value + add)
            return false;
    return true;
}

void back_and_forth()
{
    const unsigned count = number_from("PTSCHED_ARENA_NODES", 10000), rounds = number_from("PTSCHED_ARENA_ROUNDS", 10);
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena();
    Node *list = list_of(own, count);
    unsigned long long expected = count * (count - 1ull) / 2;
    for (unsigned round = 1; round <= rounds; round++) {
        own.acquire_ownership(Side::gpu());
        CHECK(own.owner() == Side::gpu());
        CHECK_EQ(kernels.walk(list, round), expected);
        own.acquire_ownership(Side::host());
        CHECK(own.owner() == Side::host());
        CHECK(written_with(list, round));
        for (Node *node = list; node; node = node->next)
            node->value += 3;
        expected += 3 * count;
    }
}

/* What the host does meanwhile, kernels do not see, and the other way round. */
void sides_do_not_see_each_other()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena(), other = window.owned_arena();
    Node *list = list_of(own, 1), *private_list = list_of(other, 1);
    own.acquire_ownership(Side::gpu());
    CHECK_EQ(kernels.walk(list, 5), 0u);
    private_list->value = 7;
    other.acquire_ownership(Side::gpu());
    CHECK_EQ(kernels.walk(private_list, 5), 7u);
    window.acquire_ownership();
    CHECK(written_with(list, 5) && written_with(private_list, 5));
    CHECK(own.owner() == Side::host() && other.owner() == Side::host());
}

/* Released and acquired; both write, but not the same pages. */
void shared_arenas()
{
    Window window(small());
    Kernels kernels;
    Arena common = window.shared_arena();
    Node *list = list_of(common, 100);
    common.release(Side::host());
    common.acquire(Side::gpu());
    CHECK_EQ(kernels.walk(list, 1), 4950u);
    common.release(Side::gpu());
    common.acquire(Side::host());
    CHECK(written_with(list, 1));
    CHECK(!common.owner());
    common.acquire_ownership(Side::gpu());
    CHECK_EQ(kernels.walk(list, 2), 4950u);
    common.release_ownership();
    CHECK(!common.owner());
    common.acquire(Side::host());
    CHECK(written_with(list, 2));
}

/* Words of the same pages. */
void both_write()
{
    constexpr unsigned count = 100000;
    Window window(small());
    Kernels kernels;
    Arena common = window.shared_arena();
    auto *words = static_cast<unsigned *>(common.allocate(count * sizeof(unsigned)));
    std::fill_n(words, count, 0u);
    common.release(Side::host());
    bool right = true;
    for (unsigned round = 1; round <= 5; round++) {
        common.acquire(Side::gpu());
        unsigned value = 100 * round, number = count;
        kernels.run("write_odd", {{2, 1, 1}, {32, 1, 1}}, {&words, &number, &value});
        for (unsigned i = 0; i < count; i += 2)
            words[i] = round + i;
        common.release(Side::gpu());
        common.release(Side::host());
        common.acquire(Side::host());
        for (unsigned i = 0; i < count; i++)
            right = right && words[i] == (i % 2 ? 100 * round : round) + i;
    }
    CHECK(right);
    /* And so does the GPU. */
    common.acquire_ownership(Side::gpu());
    common.acquire_ownership(Side::host());
    for (unsigned i = 0; i < count; i++)
        right = right && words[i] == (i % 2 ? 500 : 5) + i;
    CHECK(right);
}

/* The host does so by a fault. */
void use_makes_shared()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena();
    Node *list = list_of(own, 1000);
    own.acquire_ownership(Side::gpu());
    CHECK_EQ(kernels.walk(list, 3), 999u * 1000 / 2);
    CHECK(own.owner() == Side::gpu());
    CHECK(written_with(list, 3));
    CHECK(!own.owner());
    const arena::State state = window.state();
    CHECK_EQ(state.made_shared, 1u);
    CHECK(state.read_faults > 0 && state.write_faults > 0 && state.to_gpus > 0 && state.to_host > 0);
}

/* What a system call does not get by a fault. */
void touched_for_a_system_call()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena();
    Node *node = list_of(own, 1);
    int word = 0, ends[2];
    CHECK(pipe(ends) == 0);
    own.acquire_ownership(Side::gpu());
    kernels.walk(node, 77);
    CHECK(write(ends[1], node, sizeof(*node)) < 0 && errno == EFAULT);
    window.touch(node, sizeof(*node));
    window.touch(&word, sizeof(word));
    CHECK(!own.owner());
    CHECK_EQ(write(ends[1], node, sizeof(*node)), static_cast<ssize_t>(sizeof(*node)));
    Node copy{};
    CHECK_EQ(read(ends[0], &copy, sizeof(copy)), static_cast<ssize_t>(sizeof(copy)));
    CHECK_EQ(copy.written, 77u);
    own.acquire_ownership(Side::gpu());
    own.touch(&node->value, sizeof(node->value), true);
    CHECK_EQ(write(ends[1], &word, sizeof(word)), static_cast<ssize_t>(sizeof(word)));
    CHECK_EQ(read(ends[0], &node->value, sizeof(word)), static_cast<ssize_t>(sizeof(word)));
    close(ends[0]);
    close(ends[1]);
}

void races_are_told()
{
    arena::Options options = small();
    options.checked = true;
    Window window(options);
    Kernels kernels;
    Arena common = window.shared_arena({.name = "raced"});
    auto *words = static_cast<unsigned *>(common.allocate(6000));
    const std::string line = "ownership.cpp:" + std::to_string(__LINE__ - 1);
    std::fill_n(words, 1500, 0u);
    common.release(Side::host());
    common.acquire(Side::gpu());
    unsigned value = 1, number = 1500;
    kernels.run("write_odd", {}, {&words, &number, &value});
    words[7] = 5;
    char address[32];
    std::snprintf(address, sizeof(address), "%p", static_cast<void *>(words + 7));
    CHECK(refused(
        [&] {
            common.release(Side::host());
            common.release(Side::gpu());
        },
        {address, "arena raced", line}));
    /* It goes on: who wrote what is known no more. */
    common.acquire(Side::host());
    common.acquire_ownership(Side::gpu());
    common.acquire_ownership(Side::host());
    CHECK(words[7] == 5 || words[7] == 8);
}

void access_makes_shared()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena(), other = window.owned_arena();
    Node *list = list_of(own, 10);
    int word = 0;
    window.access(Side::gpu(), {list, &word, nullptr});
    CHECK(!own.owner() && other.owner() == Side::host());
    CHECK_EQ(kernels.walk(list, 0), 45u);
    window.access(Side::host(), {list});
    CHECK(!own.owner());
}

void declared_writes()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena(), other = window.owned_arena();
    constexpr unsigned count = 100000;
    auto *words = static_cast<unsigned *>(own.allocate(count * sizeof(unsigned)));
    other.allocate(1);
    std::fill_n(words, count, 1u);
    window.acquire_ownership(Side::gpu());
    unsigned value = 10, number = count;
    kernels.run("write_odd", {{2, 1, 1}, {32, 1, 1}}, {&words, &number, &value});
    window.acquire_ownership(Side::host(), {{{words, count * sizeof(unsigned)}}});
    bool right = true;
    for (unsigned i = 0; i < count; i++)
        right = right && words[i] == (i % 2 ? 10 + i : 1);
    CHECK(right);
}

/* Memory that comes when the GPU has the arena, and an arena in another's pages. */
void pages_that_come_later()
{
    Window window(small());
    Kernels kernels;
    for (int round = 0; round < 3; round++) {
        Arena own = window.owned_arena(Side::gpu());
        own.acquire_ownership(Side::host());
        Node *list = list_of(own, 15000);
        own.acquire_ownership(Side::gpu());
        CHECK_EQ(kernels.walk(list, 9), 15000 * 14999ull / 2);
        own.acquire_ownership(Side::host());
        CHECK(written_with(list, 9));
    }
}

} // namespace

std::vector<tap::Case> test::ownership_cases()
{
    return {
        {"an arena goes back and forth", back_and_forth},
        {"sides do not see each other before", sides_do_not_see_each_other},
        {"shared arenas are released and acquired", shared_arenas},
        {"both sides write words of the same pages", both_write},
        {"use by the host makes an arena shared", use_makes_shared},
        {"what system calls use is touched before", touched_for_a_system_call},
        {"races are told", races_are_told},
        {"use by a GPU makes an arena shared", access_makes_shared},
        {"what kernels write is said", declared_writes},
        {"pages that come later", pages_that_come_later},
    };
}
