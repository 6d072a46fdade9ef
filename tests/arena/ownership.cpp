// SPDX-License-Identifier: MIT
/* What one side has written, the other finds when it has been handed over. */
#include "tests/arena/cases.hpp"

using namespace test;

namespace {

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
    constexpr unsigned count = 10000;
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena();
    Node *list = list_of(own, count);
    unsigned long long expected = count * (count - 1ull) / 2;
    for (unsigned round = 1; round <= 10; round++) {
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
        Node *list = list_of(own, 40000);
        own.acquire_ownership(Side::gpu());
        CHECK_EQ(kernels.walk(list, 9), 40000 * 39999ull / 2);
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
        {"use by the other side makes an arena shared", access_makes_shared},
        {"what kernels write is said", declared_writes},
        {"pages that come later", pages_that_come_later},
    };
}
