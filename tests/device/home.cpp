// SPDX-License-Identifier: MIT
/* Datablocks at home in memory of the caller: read from there, written in place on devices, and back. */
#include "tests/device/work.hpp"
#include <ptsched/device/allocation.hpp>

using namespace test;
using device::Access, device::Datablock, device::Rows;

namespace {

constexpr std::size_t n = 256, bytes = n * sizeof(float);

/* @x becomes twice itself. */
void twice(Adder &adder, const DatablockPtr &x)
{
    adder.add_to(x, x);
}

void goes_and_comes_back()
{
    Adder adder(gpu());
    std::vector<float> x(n, 1);
    auto block = Datablock::at_home(x.data(), {bytes});
    CHECK_EQ(block->host_address(), reinterpret_cast<std::uintptr_t>(x.data()));
    for (unsigned round = 0; round < 3; round++)
        twice(adder, block);
    CHECK(!block->host_address());
    CHECK(block->read() == x.data());
    CHECK(std::all_of(x.begin(), x.end(), [](float one) { return one == 8; }));
    std::fill(x.begin(), x.end(), 5.0F);
    block->written_at_home();
    CHECK_EQ(block->missing(gpu()), bytes);
    twice(adder, block);
    block->read();
    CHECK(std::all_of(x.begin(), x.end(), [](float one) { return one == 10; }));
}

/* The rows' other bytes stay as they are. */
void rows_of_a_matrix()
{
    constexpr std::size_t rows = 8, columns = 16, stride = 24;
    Adder adder(gpu());
    std::vector<float> x(rows * stride, 1);
    auto block = Datablock::at_home(&x[4], {columns * sizeof(float), rows, stride * sizeof(float)});
    CHECK_EQ(block->bytes(), rows * columns * sizeof(float));
    twice(adder, block);
    twice(adder, block);
    block->read();
    for (std::size_t i = 0; i < rows * stride - 4; i++)
        CHECK_EQ(x[i + 4], i % stride < columns ? 4.0F : 1.0F);
    CHECK(x[0] == 1 && x[3] == 1);
}

/* To make room, what was written goes to its home and nowhere else. */
void makes_room()
{
    constexpr std::size_t count = 12, large = gpu_memory / 8;
    Adder adder(gpu());
    std::vector<std::vector<float>> all;
    std::vector<DatablockPtr> blocks;
    for (std::size_t i = 0; i < count; i++) {
        all.emplace_back(large / sizeof(float), static_cast<float>(i));
        blocks.push_back(Datablock::at_home(all[i].data(), {large}));
    }
    for (unsigned round = 0; round < 2; round++)
        for (auto &block : blocks)
            twice(adder, block);
    adder.finish();
    for (std::size_t i = 0; i < count; i++) {
        blocks[i]->read();
        CHECK(std::all_of(all[i].begin(), all[i].end(), [=](float one) { return one == static_cast<float>(4 * i); }));
    }
}

/* Copies that are out of date give their memory to the next ones, and to others. */
void old_copies_give_way()
{
    constexpr std::size_t large = gpu_memory / 4;
    Adder adder(gpu());
    std::vector<std::vector<float>> all(6, std::vector<float>(large / sizeof(float), 1));
    std::vector<DatablockPtr> blocks;
    for (auto &x : all)
        blocks.push_back(Datablock::at_home(x.data(), {large}));
    for (unsigned round = 0; round < 3; round++)
        for (std::size_t i = 0; i < all.size(); i++) {
            twice(adder, blocks[i]);
            blocks[i]->read();
            std::fill(all[i].begin(), all[i].end(), static_cast<float>(i + round));
            blocks[i]->written_at_home();
        }
    for (std::size_t i = 0; i < all.size(); i++) {
        twice(adder, blocks[i]);
        blocks[i]->read();
        CHECK_EQ(all[i].back(), static_cast<float>(2 * (i + 2)));
    }
}

/* What must be copied goes by a queue of its own, and the work waits for it. */
void copied_by_another_queue()
{
    Adder adder(gpu());
    auto copies = gpu().make_queue();
    auto code = device::cuda_code(gpu(), kernels(), "vector_add");
    std::vector<float> x(n, 3);
    auto block = Datablock::at_home(x.data(), {bytes});
    Access::Item item = Access::changes(*block);
    item.ordered = true;
    for (unsigned round = 0; round < 2; round++) {
        device::Address at;
        unsigned count = n;
        Access access(gpu(), *adder.queue, *copies, {&item, 1}, &at);
        adder.queue->run(*code, {{1, 1, 1}, {n, 1, 1}}, {&at, &at, &at, &count});
        access.given(adder.queue->mark());
    }
    block->read();
    CHECK(std::all_of(x.begin(), x.end(), [](float one) { return one == 12; }));
}

void bad_homes()
{
    float x[4] = {};
    CHECK(refused([] { Datablock::at_home(nullptr, {4}); }, {"4 bytes", "null pointer"}));
    CHECK(refused([&] { Datablock::at_home(x, {8, 2, 4}); }, {"rows of 8 bytes", "4 bytes apart"}));
    CHECK(refused([&] { Datablock::of(x, sizeof(x))->written_at_home(); }, {"at home", "Datablock::at_home()"}));
    CHECK_EQ(Datablock::at_home(nullptr, {})->bytes(), std::size_t{0});
    auto memory = device::Allocation::managed(gpu(), 64);
    auto queue = gpu().make_queue();
    memory.prefetch(gpu(), *queue, {16, 48});
    CHECK(refused([&] { memory.prefetch(gpu(), *queue, {16, 49}); }, {"49 bytes from byte 16", "64"}));
    CHECK(refused([&] { memory.advise(device::Advice::read_mostly, gpu(), {65, 0}); }, {"from byte 65"}));
    queue->finish();
}

} // namespace

std::vector<tap::Case> test::home_cases()
{
    return {{"a block at home goes to a device and comes back", goes_and_comes_back},
            {"a block at home: rows of a matrix", rows_of_a_matrix},
            {"a block at home makes room", makes_room},
            {"a block at home: old copies give way", old_copies_give_way},
            {"a block at home: copies by a queue of their own", copied_by_another_queue},
            {"a block at home that cannot be, and parts of memory", bad_homes}};
}
