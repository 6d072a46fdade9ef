// SPDX-License-Identifier: MIT
/* Windows of each kind, and pointers that are shared. */
#include "tests/arena/cases.hpp"

#include <optional>

using namespace test;
using arena::Memory;
using arena::shared;

namespace {

void addresses()
{
    Window window(small());
    Arena low = window.owned_arena(), high = window.owned_arena(Side::gpu());
    const auto *begin = static_cast<char *>(window.begin());
    CHECK_EQ(window.bytes(), window_bytes);
    CHECK_EQ(window.devices().size(), device::gpus().size());
    CHECK(static_cast<char *>(low.allocate(16)) - begin < std::ptrdiff_t{window_bytes} / 2);
    CHECK(static_cast<char *>(high.allocate(16)) - begin > std::ptrdiff_t{window_bytes} / 2);
    CHECK(low.owner() == Side::host() && high.owner() == Side::gpu());
    CHECK(!window.shared_arena().owner());
    const arena::State state = window.state();
    CHECK(state.made > 0 && state.made < state.bytes && state.bytes == window_bytes);
    CHECK_EQ(state.arenas, 2u);
}

void what_there_is_not()
{
    arena::Options options = small();
    options.devices = {nullptr};
    CHECK(refused([&] { Window window(options); }, {"null"}));
    options.devices = {&device::host()};
    CHECK(refused([&] { Window window(options); }, {"host", "only GPUs"}));
    options = small();
    options.bytes = SIZE_MAX - 5;
    CHECK(refused([&] { Window window(options); }, {"addresses"}));
    Window window(small());
    CHECK(refused([&] { window.owned_arena(Side::gpu(70)); }, {"no GPU 70", "from 0 on"}));
    Arena own = window.owned_arena();
    CHECK(refused([&] { own.acquire_ownership(Side::gpu(70)); }, {"no GPU 70"}));
    CHECK(refused([&] { own.acquire(Side::gpu(70)); }, {"no GPU 70"}));
    int word = 0;
    CHECK(refused([&] { own.release(Side::host(), {{{&word, sizeof(word)}}}); }, {"4 bytes", "no page"}));
    CHECK(own.owner() == Side::host());
}

/* It grows up to its addresses; what does not fit is refused, and what there was stays. */
void full_window()
{
    arena::Options options = small();
    options.bytes = 8 << 20;
    Window window(options);
    Arena own = window.owned_arena(), high = window.owned_arena(Side::gpu());
    auto *word = own.make<int>(5);
    std::vector<void *> blocks;
    CHECK(refused(
        [&] {
            for (;;)
                blocks.push_back((blocks.size() % 2 ? own : high).allocate(1 << 20));
        },
        {"no addresses left"}));
    CHECK(blocks.size() >= 6);
    CHECK_EQ(*word, 5);
    for (void *block : blocks)
        window.deallocate(block);
    CHECK_EQ(window.state().made, window.state().bytes);
    CHECK(own.allocate(1 << 20) != nullptr);
}

void arenas_outlive_their_window()
{
    std::optional<Window> window(std::in_place, small());
    Arena own = window->owned_arena();
    int *word = own.make<int>(4);
    window.reset();
    CHECK_EQ(*word, 4);
    own.deallocate(word);
    word = own.make<int>(5);
    shared<int *> pointer = word;
    CHECK_EQ(*pointer, 5);
}

struct Pair {
    shared<int *> first, second;
};

void shared_pointers()
{
    Window window(small());
    Arena own = window.owned_arena();
    int word = 1;
    auto *pair = own.make<Pair>();
    pair->first = own.make<int>(7);
    pair->second = nullptr;
    CHECK_EQ(*pair->first, 7);
    CHECK(!pair->second && pair->first.get() == pair->first);
    char holder[32], pointer[32];
    std::snprintf(holder, sizeof(holder), "%p", static_cast<void *>(&pair->second));
    std::snprintf(pointer, sizeof(pointer), "%p", static_cast<void *>(&word));
    CHECK(refused([&] { pair->second = &word; }, {holder, "in a window", pointer, "private"}));
    CHECK(!pair->second);
    CHECK(refused([&] { shared<int *>{&word}; }, {pointer, "private"}));
    shared<const int *> same = pair->first;
    CHECK_EQ(*same, 7);
    static_assert(sizeof(shared<int *>) == sizeof(int *) && std::is_trivially_copyable_v<shared<int *>>);
    static_assert(!std::is_constructible_v<shared<char *>, shared<int *>>);
    const void *end = static_cast<char *>(window.begin()) + window.bytes();
    CHECK(refused([&] { shared<const void *>{end}; }, {"private"}));
}

/* The driver moves it: what one side writes the other finds. */
void managed_memory()
{
    Window window(small(Memory::managed));
    Kernels kernels;
    Arena own = window.owned_arena(), gpus = window.owned_arena(Side::gpu());
    auto *first = own.make<Node>(nullptr, 1u, 0u), *second = gpus.make<Node>(first, 2u, 0u);
    const Side last = Side::gpu(static_cast<unsigned>(window.devices().size() - 1));
    own.acquire_ownership(last);
    CHECK(own.owner() == last);
    CHECK_EQ(kernels.walk(second, 10), 3u);
    own.access(Side::host());
    CHECK(!own.owner());
    window.acquire_ownership();
    CHECK(own.owner() == Side::host() && gpus.owner() == Side::host());
    CHECK_EQ(first->written, 11u);
    CHECK_EQ(second->written, 12u);
    window.release_ownership();
    window.acquire(Side::gpu());
    window.release(Side::gpu());
    CHECK(!own.owner() && !gpus.owner());
    void *large = own.allocate(5 << 20, 1 << 20);
    CHECK(reinterpret_cast<std::uintptr_t>(large) % (1 << 20) == 0);
}

} // namespace

std::vector<tap::Case> test::window_cases()
{
    return {
        {"addresses of a window", addresses},          {"what there is not", what_there_is_not},
        {"a window that is full", full_window},        {"arenas outlive their window", arenas_outlive_their_window},
        {"pointers that are shared", shared_pointers}, {"a window of managed memory", managed_memory},
    };
}
