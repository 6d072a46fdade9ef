// SPDX-License-Identifier: MIT
/* Where tasks run: on a device, on one of several, on the host, or on either. */
#include "tests/pool/waiting.hpp"

#include <atomic>
#include <thread>

using namespace test;
using pool::Where;

namespace {

pool::Options with_host(const char *kernel, unsigned threads = 2)
{
    auto options = options_for(kernel);
    options.host_threads = threads;
    return options;
}

/* The host says so by a value that the device does not make. */
void square_on_host(Square &task)
{
    task.result = -task.value;
}

void on_the_host()
{
    Squares squares(with_host("squares"));
    squares.on_host<Square>(square_on_host);
    for (unsigned long long i = 0; i < 50; i++)
        squares.push(Square{3, 0, i}, {.where = Where::host});
    for (unsigned i = 0; i < 50; i++)
        CHECK(squares.pop()->result == -3);
    CHECK_EQ(squares.state().on_host, std::uint64_t{50});
    CHECK_EQ(squares.state().on_devices, std::uint64_t{0});
    CHECK_EQ(squares.state().launches, std::uint64_t{0});
}

/* No device has room, and does not get any: what may run on the host does. */
void on_either()
{
    auto options = one_slot();
    options.host_threads = 2;
    options.outputs = 2;
    Mixed pool(options);
    pool.on_host<Square>(square_on_host);
    Waiting waiting;
    waiting.begin(pool, {.output = 1});
    for (unsigned long long i = 0; i < 20; i++)
        pool.push(Square{3, 0, i}, {.where = Where::either});
    for (unsigned i = 0; i < 20; i++)
        CHECK(std::get<Square>(*pool.pop()).result == -3);
    CHECK_EQ(pool.unfinished(1), std::size_t{1});
    waiting.end();
    CHECK(pool.pop(1));
}

void on_the_host_alone()
{
    pool::Options options;
    options.host_threads = 2;
    Squares host(options);
    host.on_host<Square>(square_on_host);
    host.push(Square{2, 0, 0}, {.where = Where::host});
    host.push(Square{2, 0, 0}, {.where = Where::either});
    CHECK(host.pop()->result == -2);
    CHECK(host.pop()->result == -2);
    CHECK(refused([&] { host.push(Square{2, 0, 0}); }, {"no device", "Where::host"}));
}

/* While one has all that it can, the others do the rest. */
void several_devices()
{
    auto options = one_slot();
    options.devices = {device::gpus().at(0), device::gpus().at(1)};
    options.outputs = 2;
    Mixed pool(options);
    Waiting waiting;
    waiting.begin(pool, {.output = 1, .device = 1});
    for (unsigned long long i = 0; i < 30; i++)
        pool.push(Square{4, 0, i});
    for (unsigned i = 0; i < 30; i++)
        CHECK(std::get<Square>(*pool.pop()).result == 16);
    CHECK_EQ(pool.unfinished(1), std::size_t{1});
    waiting.end();
    CHECK(pool.pop(1));
    CHECK_EQ(pool.state().launches, std::uint64_t{2});
}

/* As a machine has whose GPUs are not of one kind: the second has an eighth of the first one's processors. */
class Unequal {
public:
    Unequal() { setenv("PTSCHED_VGPU_MULTIPROCESSORS", "16,2", 1); }
    ~Unequal() { unsetenv("PTSCHED_VGPU_MULTIPROCESSORS"); }
    Unequal(const Unequal &) = delete;
    Unequal &operator=(const Unequal &) = delete;
};

pool::Options on_two(const char *kernel)
{
    auto options = options_for(kernel);
    options.devices = {device::gpus().at(0), device::gpus().at(1)};
    options.outputs = 2;
    return options;
}

/* Each has as many blocks as it has room for: with this much shared memory, one for each processor. */
void blocks_of_unequal_devices()
{
    const Unequal unequal;
    auto options = on_two("mixed");
    options.shared_bytes = 60000;
    options.blocks = 0;
    options.depth = 1;
    Mixed pool(options);
    /* With a task in each slot, and no other: they wait. */
    Waiting waiting;
    constexpr unsigned slots = 16 + 2, more = 10;
    for (unsigned i = 0; i < slots + more; i++)
        pool.push(waiting.task());
    while (pool.state().in_slots < slots)
        std::this_thread::yield();
    CHECK_EQ(pool.state().in_slots, std::size_t{slots});
    waiting.end();
    for (unsigned i = 0; i < slots + more; i++)
        CHECK(std::get<Wait>(*pool.pop()).seen == 1);
    options.blocks = 3;
    CHECK(refused([&] { Mixed too_many(options); }, {"blocks is 3", "at most 2"}));
}

/* Who ends its tasks gets others, and who does not gets none: so, in small, does who is slower. */
void the_faster_one_does_more()
{
    const Unequal unequal;
    auto options = on_two("mixed");
    options.shared_bytes = 60000;
    options.blocks = 2;
    options.depth = 2;
    constexpr unsigned slow_slots = 4, all = 60;
    Mixed pool(options);
    Waiting waiting;
    for (unsigned i = 0; i < slow_slots; i++)
        pool.push(waiting.task(), {.output = 1, .device = 1});
    while (pool.state().in_slots < slow_slots)
        std::this_thread::yield();
    for (unsigned long long i = 0; i < all; i++)
        pool.push(Square{5, 0, i});
    for (unsigned i = 0; i < all; i++)
        CHECK(std::get<Square>(*pool.pop()).result == 25);
    CHECK_EQ(pool.unfinished(1), std::size_t{slow_slots});
    CHECK_EQ(pool.state().on_devices, std::uint64_t{all});
    /* What is bound to the slow one waits for that, and nothing else does. */
    pool.push(Square{6, 0, 0}, {.output = 1, .device = 1});
    pool.push(Square{7, 0, 0});
    CHECK(std::get<Square>(*pool.pop()).result == 49);
    waiting.end();
    for (unsigned i = 0; i <= slow_slots; i++)
        CHECK(pool.pop(1));
    CHECK_EQ(pool.state().launches, std::uint64_t{2});
}

void wrong_places()
{
    Squares squares(with_host("squares"));
    CHECK(refused([&] { squares.push(Square{}, {.where = Where::host}); }, {"no function for the host", "on_host"}));
    CHECK(refused([&] { squares.push(Square{}, {.device = 1}); }, {"device is 1", "the pool has 1"}));
    CHECK(refused([&] { squares.push(Square{}, {.output = 1}); }, {"output is 1", "the pool has 1"}));
    CHECK(refused([&] { squares.push(Square{}, {.priority = 1}); }, {"priority is 1", "less than"}));
    CHECK(refused([&] { squares.pop(3); }, {"output is 3"}));
    Squares none(options_for("squares"));
    CHECK(refused([&] { none.on_host<Square>(square_on_host); }, {"host_threads is 0"}));
}

} // namespace

std::vector<tap::Case> test::place_cases()
{
    return {{"tasks of the host", on_the_host},
            {"tasks of either, where no device has room", on_either},
            {"a pool that uses the host alone", on_the_host_alone},
            {"several devices, of which one is busy", several_devices},
            {"unequal devices have as many blocks as they have room for", blocks_of_unequal_devices},
            {"of unequal devices, the faster one does more", the_faster_one_does_more},
            {"places that there are not", wrong_places}};
}
