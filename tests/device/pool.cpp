// SPDX-License-Identifier: MIT
/* What is kept for blocks to come: of any size, and no more than is of use. */
#include "libptsched/device/pool.hpp"

#include "libptsched/device/recycled.hpp"
#include "tests/device/cases.hpp"
#include <ptsched/device/datablock.hpp>

#include <cstring>
#include <random>
#include <set>

using namespace ptsched;
using namespace test;
using device::Address;
using device::MostOfLate;
using device::Pool;

namespace {

constexpr std::size_t mega = std::size_t{1} << 20;

/* A driver that counts, and the pool of what it gives. */
struct Counted {
    std::size_t driver_has() { return pool.use().taken; }

    unsigned allocated = 0;
    std::vector<Address> freed;
    Address last = 0;
    Pool pool{[this](std::size_t bytes) {
                  allocated++;
                  return last += bytes;
              },
              [this](Address address) { freed.push_back(address); }};
};

/* Little is added to a block, and blocks of nearly the same size get the same. */
void size_classes()
{
    for (std::size_t bytes = 1; bytes < 100 * mega; bytes = bytes + bytes / 7 + 1) {
        const std::size_t rounded = Pool::rounded(bytes);
        CHECK(rounded >= bytes);
        CHECK(rounded <= bytes + std::max(bytes / 32, std::size_t{256}));
        CHECK_EQ(rounded % 256, std::size_t{0});
        CHECK_EQ(Pool::rounded(rounded), rounded);
    }
    CHECK_EQ(Pool::rounded(0), std::size_t{256});
    CHECK_EQ(Pool::rounded(3 * mega), 3 * mega);
    CHECK_EQ(Pool::rounded(3 * mega + 1), Pool::rounded(3 * mega + 1000));
}

/* One block at a time, of ever other sizes: what there is stays within its bound, and the driver is hardly called. */
void ever_other_sizes()
{
    constexpr unsigned blocks = 20000;
    constexpr std::size_t largest = 4 * mega;
    Counted counted;
    std::mt19937 random(1);
    std::size_t most = 0;
    for (unsigned i = 0; i < blocks; i++) {
        const std::size_t bytes = 1 + random() % largest;
        counted.pool.give(counted.pool.take(bytes), bytes);
        most = std::max(most, counted.driver_has());
    }
    CHECK(most <= 2 * Pool::rounded(largest) + Pool::always_kept);
    CHECK(counted.allocated < blocks / 100);
    CHECK_EQ(counted.pool.use().kept, counted.driver_has());
}

/* However many of the same sizes come and go together. */
void the_same_again()
{
    constexpr unsigned blocks = 300;
    Counted counted;
    std::vector<Address> used;
    unsigned allocated = 0;
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned i = 0; i < blocks; i++)
            used.push_back(counted.pool.take(mega + i % 3 * mega));
        CHECK_EQ(std::set<Address>(used.begin(), used.end()).size(), std::size_t{blocks});
        for (unsigned i = 0; i < blocks; i++)
            counted.pool.give(used[i], mega + i % 3 * mega);
        used.clear();
        if (!round)
            allocated = counted.allocated;
    }
    CHECK_EQ(counted.allocated, allocated);
    CHECK(counted.freed.empty());
}

/* It has the size that it had, whatever it was used for in between. */
void a_little_larger_will_do()
{
    Counted counted;
    const Address large = counted.pool.take(mega);
    counted.pool.give(large, mega);
    CHECK_EQ(counted.pool.take(mega - mega / 8), large);
    CHECK_EQ(counted.pool.use().kept, std::size_t{0});
    counted.pool.give(large, mega - mega / 8);
    CHECK_EQ(counted.pool.use().kept, mega);
    CHECK(counted.pool.take(mega / 2) != large);
    CHECK_EQ(counted.pool.take(mega), large);
}

/* Of several sizes, when others are needed. */
void what_is_of_no_use_goes_first()
{
    constexpr std::size_t each = Pool::always_kept / 4;
    Counted counted;
    const Address first = counted.pool.take(each), second = counted.pool.take(2 * each);
    counted.pool.give(first, each);
    counted.pool.give(second, 2 * each);
    counted.pool.give(counted.pool.take(each), each);
    /* There may be 4, and twice as many as are in use. */
    const Address third = counted.pool.take(4 * each);
    CHECK(counted.freed.empty());
    const Address fourth = counted.pool.take(8 * each);
    CHECK(counted.freed.empty());
    counted.pool.give(third, 4 * each);
    counted.pool.give(fourth, 8 * each);
    for (unsigned i = 0; i < 2 * MostOfLate::remembered; i++)
        counted.pool.give(counted.pool.take(each), each);
    CHECK(counted.freed.empty());
    /* Now hardly anything is in use, and 14 are enough. */
    counted.pool.take(5 * each);
    CHECK((counted.freed == std::vector<Address>{second, third}));
}

void trimmed()
{
    Counted counted;
    const Address used = counted.pool.take(mega), kept = counted.pool.take(2 * mega);
    counted.pool.give(kept, 2 * mega);
    CHECK_EQ(counted.pool.trim(), 2 * mega);
    CHECK(counted.freed == std::vector<Address>{kept});
    CHECK_EQ(counted.driver_has(), mega);
    CHECK_EQ(counted.pool.trim(), std::size_t{0});
    counted.pool.give(used, mega);
    CHECK_EQ(counted.pool.take(mega), used);
}

/* What programs call: of the host's memory here. */
void all_is_trimmed()
{
    constexpr std::size_t bytes = 3 * mega;
    const std::vector<char> content(bytes, 'x');
    auto kept = device::Datablock::of(content.data(), bytes);
    auto used = device::Datablock::of(content.data(), bytes);
    kept.reset();
    CHECK(device::trim() >= bytes);
    CHECK(device::trim() < bytes);
    CHECK_EQ(std::memcmp(used->read(), content.data(), bytes), 0);
}

/* What is small is kept as long as as many were in use of late. */
void small_ones_go_too()
{
#ifndef __SANITIZE_ADDRESS__
    constexpr std::size_t bytes = 64, many = 5000, few = 1024;
    static constinit device::FreeList<bytes, 64> list;
    std::vector<void *> used(many);
    for (void *&one : used)
        one = list.take();
    for (void *one : used)
        list.give(one);
    CHECK_EQ(list.trim(), many * bytes);
    for (void *&one : used)
        one = list.take();
    for (void *one : used)
        list.give(one);
    for (unsigned i = 0; i < 3 * MostOfLate::remembered; i++)
        list.give(list.take());
    CHECK_EQ(list.trim(), few * bytes);
    CHECK_EQ(list.trim(), std::size_t{0});
#endif
}

} // namespace

std::vector<tap::Case> test::pool_cases()
{
    return {{"blocks of nearly the same size get the same", size_classes},
            {"blocks of ever other sizes need no more and more memory", ever_other_sizes},
            {"blocks of the same sizes need no driver", the_same_again},
            {"what is a little larger will do", a_little_larger_will_do},
            {"what has been of no use for longest goes first", what_is_of_no_use_goes_first},
            {"what is kept can be given back", trimmed},
            {"all that is kept, by one call", all_is_trimmed},
            {"what is small goes, too", small_ones_go_too}};
}
