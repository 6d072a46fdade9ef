// SPDX-License-Identifier: MIT
/* Blocks that kernels allocate are the host's as well. */
#include "tests/arena/cases.hpp"

#include <algorithm>
#include <optional>
#include <set>

using namespace test;
using arena::KernelBlocks;

namespace {

constexpr unsigned threads = 48, length = 20;
const device::Geometry geometry{{3, 1, 1}, {threads / 3, 1, 1}};

/* A list for each thread, which kernels make; returns how many nodes they have made. */
unsigned build(Kernels &kernels, const KernelBlocks &blocks, Arena &lists_in, Node **&lists)
{
    lists = static_cast<Node **>(lists_in.allocate(threads * sizeof(Node *)));
    std::fill_n(lists, threads, nullptr);
    lists_in.acquire_ownership(Side::gpu());
    auto *made = kernels.out<unsigned>();
    arena::KernelHeap heap = blocks.view();
    unsigned long_list = length;
    kernels.run("build", geometry, {&heap, &lists, &long_list, &made});
    lists_in.acquire_ownership(Side::host());
    return *made;
}

void lists_of_kernels()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena();
    Node **lists = nullptr;
    {
        KernelBlocks blocks(own, {{100, 1}, {sizeof(Node), threads * length + 100}});
        CHECK_EQ(build(kernels, blocks, own, lists), threads * length);
        CHECK(refused([&] { own.deallocate(lists[0]); }, {"collect()"}));
        CHECK_EQ(blocks.collect(), std::size_t{threads} * length);
        CHECK_EQ(blocks.collect(), 0u);
        CHECK(blocks.left() == std::vector<std::uint32_t>({1, 100}));
        std::set<const Node *> all;
        for (unsigned thread = 0; thread < threads; thread++)
            for (unsigned i = length; i-- > 0;) {
                Node *node = lists[thread];
                CHECK_EQ(node->value, thread * length + i);
                CHECK(own.contains(node) && all.insert(node).second);
                lists[thread] = node->next;
                own.deallocate(node);
            }
        CHECK(!lists[0]);
        CHECK(refused([&] { own.deallocate(const_cast<Node *>(*all.begin())); }, {"twice"}));
        CHECK_EQ(window.state().blocks, 1u);
    }
    own.deallocate(lists);
    CHECK_EQ(window.state().block_bytes, 0u);
}

/* Beyond what was handed out they get nothing; what is left is the arena's again. */
void no_more_blocks()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena();
    Node **lists = nullptr;
    std::optional<KernelBlocks> blocks(std::in_place, own, std::vector<KernelBlocks::Kind>{{sizeof(Node), 100}});
    CHECK_EQ(build(kernels, *blocks, own, lists), 100u);
    CHECK_EQ(blocks->collect(), 100u);
    CHECK(blocks->left() == std::vector<std::uint32_t>({0}));
    blocks.reset();
    unsigned nodes = 0;
    for (unsigned thread = 0; thread < threads; thread++)
        while (Node *node = lists[thread]) {
            lists[thread] = node->next;
            own.deallocate(node);
            nodes++;
        }
    CHECK_EQ(nodes, 100u);
    blocks.emplace(own, std::vector<KernelBlocks::Kind>{{5000, 3}, {200, 2}});
    auto **got = kernels.out<void *>();
    arena::KernelHeap heap = blocks->view();
    kernels.run("sizes", {}, {&heap, &got});
    CHECK(!got[0] && got[1] && got[2] && got[1] != got[2]);
    CHECK_EQ(blocks->collect(), 2u);
    CHECK(blocks->left() == std::vector<std::uint32_t>({3, 0}));
    blocks.reset();
    /* One of those that they had left, and no others. */
    std::set<void *> all{got[1], got[2]};
    for (int i = 0; i < 1000; i++)
        CHECK(all.insert(own.allocate(200)).second);
}

void given_back_by_kernels()
{
    Window window(small());
    Kernels kernels;
    Arena own = window.owned_arena();
    KernelBlocks blocks(own, {{sizeof(Node), 10}}, 15);
    Node *list = nullptr;
    for (unsigned i = 0; i < 20; i++)
        list = own.make<Node>(list, i, 0u);
    own.acquire_ownership(Side::gpu());
    arena::KernelHeap heap = blocks.view();
    auto *back = kernels.out<unsigned>();
    kernels.run("give_back", {}, {&heap, &list, &back});
    CHECK_EQ(*back, 15u);
    CHECK_EQ(window.state().blocks, 20u);
    CHECK_EQ(blocks.collect(), 0u);
    CHECK_EQ(window.state().blocks, 5u);
    /* The same ones once more. */
    kernels.run("give_back", {}, {&heap, &list, &back});
    CHECK(refused([&] { blocks.collect(); }, {"twice"}));
    CHECK_EQ(window.state().blocks, 5u);
}

void what_is_not_handed_out()
{
    Window window(small());
    Arena own = window.owned_arena();
    CHECK(refused([&] { KernelBlocks blocks(own, {}); }, {"no kind"}));
    CHECK(refused([&] { KernelBlocks blocks(own, {{16, 0}}); }, {"0 of 16"}));
    CHECK(refused([&] { KernelBlocks blocks(own, {{16, 1}, {40000, 1}}); }, {"40000", "32768"}));
    CHECK(refused([&] { KernelBlocks blocks(own, {{16, 1}, {32768, 100000}}); }, {"cannot have"}));
    CHECK_EQ(window.state().blocks, 0u);
    void *large = own.allocate(1 << 20);
    own.deallocate(large);
}

} // namespace

std::vector<tap::Case> test::kernel_cases()
{
    return {
        {"kernels make lists", lists_of_kernels},
        {"kernels want more blocks than there are", no_more_blocks},
        {"kernels give blocks back", given_back_by_kernels},
        {"what is not handed out to kernels", what_is_not_handed_out},
    };
}
