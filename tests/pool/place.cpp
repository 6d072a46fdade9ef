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
            {"places that there are not", wrong_places}};
}
