// SPDX-License-Identifier: MIT
/* A call is a release and an acquire: with the memory of a window, which each side has for itself. */
#include "tests/arena/call/cases.hpp"
#include <ptsched/arena.hpp>

using namespace test;
using arena::Arena, arena::Calls, arena::Side, arena::Window;

namespace {

arena::Options small()
{
    arena::Options options;
    options.devices = {device::gpus().at(0)};
    options.bytes = 16 << 20;
    return options;
}

arena::CallOptions options_for(Window &window, Arena *heap = nullptr)
{
    arena::CallOptions options = test::options_for();
    options.hooks = hooks_of(window, heap);
    return options;
}

/* 1, 2, ... up to @length, the last one first. */
Node *list_of(Arena &where, unsigned length)
{
    Node *list = nullptr;
    for (unsigned i = 1; i <= length; i++)
        list = where.make<Node>(list, i);
    return list;
}

unsigned long long sum_of(const Node *list)
{
    unsigned long long sum = 0;
    for (; list; list = list->next)
        sum += list->value;
    return sum;
}

/* Each sees what the other has written. */
void lists_go_back_and_forth()
{
    constexpr unsigned length = 5000, rounds = 3;
    Window window(small());
    Arena shared = window.shared_arena();
    Calls calls(options_for(window));
    const auto walk = calls.function<unsigned long long(Node *)>("walk");
    const auto add_to_all = calls.function<void(Node *, unsigned long long)>("add_to_all");
    Node *const list = list_of(shared, length);
    unsigned long long expected = length * (length + 1ULL) / 2;
    for (unsigned i = 0; i < rounds; i++) {
        CHECK_EQ(walk(list), expected);
        add_to_all(list, 2);
        list->value += 5;
        expected += 2 * length + 5;
        CHECK_EQ(sum_of(list), expected);
    }
    CHECK(window.state().to_gpus && window.state().to_host);
}

/* What it is given a pointer to is shared from then on; other arenas stay their owners'. */
void what_is_owned_becomes_shared()
{
    Window window(small());
    Arena hosts = window.owned_arena(), others = window.owned_arena();
    Calls calls(options_for(window));
    Node *const list = list_of(hosts, 10);
    list_of(others, 10);
    CHECK_EQ(calls.function<unsigned long long(Node *)>("walk")(list), 55ULL);
    CHECK(!hosts.owner());
    CHECK(others.owner() == Side::host());
    CHECK_EQ(window.state().made_shared, std::uint64_t{1});
}

void private_memory_is_refused()
{
    Window window(small());
    Arena shared = window.shared_arena();
    Calls calls(options_for(window));
    Node mine{nullptr, 1};
    const auto walk = calls.function<unsigned long long(Node *)>("walk");
    CHECK(refused([&] { walk(&mine); }, {"walk", "argument 1"}));
    CHECK_EQ(walk(shared.make<Node>(nullptr, 7U)), 7ULL);
}

int double_it(Node *node)
{
    node->next->value = 2 * node->value;
    return 1;
}
PTSCHED_ARENA_HOST_FUNCTION(double_it);

/* In the middle of a kernel, too. */
void calls_back_are_seen()
{
    Window window(small());
    Arena shared = window.shared_arena();
    Calls calls(options_for(window));
    Node *const list = list_of(shared, 2);
    const auto tell = calls.function<unsigned long long(Node *, unsigned long long)>("tell_and_hear");
    for (unsigned long long i = 1; i <= 5; i++)
        CHECK_EQ(tell(list, 100 * i), 200 * i);
    CHECK_EQ(list->value, 500ULL);
    CHECK_EQ(list->next->value, 1000ULL);
}

/* Blocks that a kernel asks the host for. */
void kernels_allocate()
{
    Window window(small());
    Arena shared = window.shared_arena();
    Calls calls(options_for(window, &shared));
    const Node *const list = calls.function<Node *(unsigned)>("make_list")(20);
    CHECK_EQ(sum_of(list), 190ULL);
    CHECK_EQ(window.state().blocks, std::size_t{20});
}

} // namespace

std::vector<tap::Case> test::window_cases()
{
    return {{"a window: lists go back and forth", lists_go_back_and_forth},
            {"a window: what is owned becomes shared", what_is_owned_becomes_shared},
            {"a window: private memory is refused", private_memory_is_refused},
            {"a window: who is called back sees what was written", calls_back_are_seen},
            {"a window: kernels allocate from an arena", kernels_allocate}};
}
