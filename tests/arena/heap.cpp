// SPDX-License-Identifier: MIT
/* Blocks of an arena: sizes, alignment, threads, and what is refused. */
#include "libptsched/arena/heap/size_class.hpp"
#include "tests/arena/cases.hpp"

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace test;
namespace size_class = arena::size_class;

namespace {

std::uintptr_t number_of(const void *address)
{
    return reinterpret_cast<std::uintptr_t>(address);
}

void sizes()
{
    std::size_t before = 0;
    for (unsigned i = 0; i < size_class::count; i++) {
        const std::size_t bytes = size_class::bytes_of(i);
        CHECK(bytes > before && bytes % 16 == 0);
        CHECK_EQ(size_class::index_of(bytes), i);
        CHECK_EQ(size_class::index_of(before + 1), i);
        CHECK(before < 64 || bytes - before <= before / 4);
        before = bytes;
    }
    CHECK_EQ(before, size_class::largest);
}

void every_alignment()
{
    Window window(small());
    Arena own = window.owned_arena();
    std::map<std::uintptr_t, std::size_t> blocks;
    for (std::size_t alignment = 1; alignment <= 1 << 20; alignment *= 2)
        for (const std::size_t bytes : {0, 1, 16, 17, 100, 4096, 40000, 70000}) {
            void *block = own.allocate(bytes, alignment);
            CHECK(number_of(block) % alignment == 0 && window.contains(block) && own.contains(block));
            std::memset(block, 1, bytes);
            CHECK(blocks.emplace(number_of(block), std::max<std::size_t>(bytes, 1)).second);
        }
    std::uintptr_t end = 0;
    for (const auto &[begin, bytes] : blocks) {
        CHECK(begin >= end);
        end = begin + bytes;
    }
    CHECK_EQ(window.state().blocks, blocks.size());
    for (const auto &[begin, bytes] : blocks)
        own.deallocate(device::host_pointer(begin));
    CHECK_EQ(window.state().blocks, 0u);
    CHECK_EQ(window.state().block_bytes, 0u);
    CHECK(refused([&] { own.allocate(16, 24); }, {"24", "power of two"}));
    CHECK(refused([&] { own.allocate(window_bytes + 1); }, {std::to_string(window_bytes + 1)}));
}

void memory_is_used_again()
{
    Window window(small());
    Arena own = window.owned_arena();
    const std::size_t sizes[] = {24, 3000, 20000, 200000};
    std::size_t made = 0;
    for (int round = 0; round < 5; round++) {
        std::vector<void *> blocks;
        for (int i = 0; i < 400; i++)
            blocks.push_back(own.allocate(sizes[i % 4]));
        CHECK_EQ(std::set<void *>(blocks.begin(), blocks.end()).size(), blocks.size());
        for (void *block : blocks)
            own.deallocate(block);
        CHECK(!made || window.state().made == made);
        made = window.state().made;
    }
    own = window.owned_arena();
    void *large = own.allocate(made / 2);
    CHECK_EQ(window.state().made, made);
    CHECK_EQ(window.state().arenas, 1u);
    own.deallocate(large);
}

void what_is_refused()
{
    Window window(small());
    Arena one = window.owned_arena(Side::host(), {.name = "one"}),
          two = window.owned_arena(Side::host(), {.name = "two"});
    int own = 0;
    auto *small = static_cast<char *>(one.allocate(100)), *other = static_cast<char *>(one.allocate(100));
    auto *large = static_cast<char *>(one.allocate(100000));
    CHECK(refused([&] { one.deallocate(&own); }, {"private memory"}));
    CHECK(refused([&] { window.deallocate(&own); }, {"private memory"}));
    CHECK(refused([&] { two.deallocate(small); }, {"arena two", "arena one"}));
    CHECK(refused([&] { one.deallocate(small + 8); }, {"8 bytes behind", "arena one"}));
    CHECK(refused([&] { one.deallocate(large + 4096); }, {"4096 bytes behind", "100000 bytes"}));
    one.deallocate(small);
    CHECK(refused([&] { one.deallocate(small); }, {"112 bytes", "twice", "arena one"}));
    CHECK(refused([&] { window.deallocate(small); }, {"twice"}));
    one.deallocate(large);
    CHECK(refused([&] { one.deallocate(large); }, {"nothing is allocated"}));
    CHECK(refused([&] { one.deallocate(static_cast<char *>(window.begin()) + window.bytes() - 8); }, {"nothing is"}));
    window.deallocate(other);
    window.deallocate(nullptr);
    one.deallocate(nullptr);
    CHECK_EQ(window.state().blocks, 0u);
}

/* Each thread frees what others have allocated. */
void threads()
{
    constexpr unsigned count = 6, rounds = 40, blocks = 50;
    Window window(small());
    Arena shared = window.shared_arena();
    std::vector<std::vector<std::pair<unsigned char *, std::size_t>>> boxes(count);
    std::vector<std::mutex> locks(count);
    std::atomic<unsigned> wrong{0};
    auto work = [&](unsigned thread) {
        std::mt19937 random(thread);
        for (unsigned round = 0; round < rounds; round++) {
            for (unsigned i = 0; i < blocks; i++) {
                const std::size_t bytes = 1 + random() % (i % 10 ? 500 : 50000);
                auto *block = static_cast<unsigned char *>(shared.allocate(bytes));
                std::memset(block, static_cast<int>(bytes % 251), bytes);
                const unsigned to = random() % count;
                const std::lock_guard lock(locks[to]);
                boxes[to].emplace_back(block, bytes);
            }
            std::vector<std::pair<unsigned char *, std::size_t>> own;
            {
                const std::lock_guard lock(locks[thread]);
                own.swap(boxes[thread]);
            }
            for (const auto &[block, bytes] : own) {
                wrong += block[0] != bytes % 251 || block[bytes - 1] != bytes % 251;
                shared.deallocate(block);
            }
        }
    };
    std::vector<std::thread> all;
    for (unsigned i = 0; i < count; i++)
        all.emplace_back(work, i);
    for (std::thread &thread : all)
        thread.join();
    std::size_t left = 0;
    for (const auto &box : boxes)
        left += box.size();
    CHECK_EQ(wrong.load(), 0u);
    CHECK_EQ(window.state().blocks, left);
}

void containers()
{
    Window window(small());
    Arena own = window.owned_arena();
    {
        std::pmr::vector<std::pmr::string> names(&own.resource());
        std::pmr::map<int, std::pmr::vector<int>> lists(&own.resource());
        for (int i = 0; i < 1000; i++) {
            names.emplace_back("a name that is too long to be inside of the string: " + std::to_string(i));
            lists[i % 10].push_back(i);
        }
        CHECK(own.contains(names.data()) && own.contains(names[999].data()) && own.contains(&lists[3][50]));
        CHECK_EQ(lists[7][99], 997);
        CHECK(names[123].ends_with("123"));
        CHECK(names.get_allocator().resource()->is_equal(own.resource()));
        CHECK(window.state().blocks > 1000);
    }
    CHECK_EQ(window.state().blocks, 0u);
}

struct Counted {
    explicit Counted(int &count, bool fails = false) : count(count)
    {
        if (fails)
            throw std::runtime_error("as it was told");
        count++;
    }
    ~Counted() { count--; }
    int &count;
};

void objects()
{
    int count = 0;
    Window window(small());
    Arena own = window.owned_arena();
    Counted *one = own.make<Counted>(count);
    CHECK_EQ(count, 1);
    bool threw = false;
    try {
        own.make<Counted>(count, true);
    } catch (const std::runtime_error &) {
        threw = true;
    }
    CHECK(threw);
    CHECK_EQ(window.state().blocks, 1u);
    own.destroy(one);
    own.destroy<Counted>(nullptr);
    CHECK_EQ(count, 0);
    CHECK_EQ(window.state().blocks, 0u);
}

void where_a_block_is_from()
{
    arena::Options options = small();
    options.checked = true;
    Window window(options), plain(small());
    Arena own = window.owned_arena(Side::host(), {.name = "mine"}), other = plain.owned_arena();
    auto *block = static_cast<char *>(own.allocate(100));
    const std::string text = window.describe(block + 50), line = "heap.cpp:" + std::to_string(__LINE__ - 1);
    CHECK(text.find("112 bytes") != std::string::npos && text.find("arena mine") != std::string::npos);
    CHECK(text.find(line) != std::string::npos);
    CHECK(window.describe(&options) == "private memory");
    own.deallocate(block);
    CHECK(window.describe(block) == "nothing that is allocated");
    CHECK(plain.describe(other.allocate(1)).find("allocated at") == std::string::npos);
}

} // namespace

std::vector<tap::Case> test::heap_cases()
{
    return {
        {"sizes of small blocks", sizes},
        {"blocks of every size and alignment", every_alignment},
        {"memory is used again", memory_is_used_again},
        {"what is not given back", what_is_refused},
        {"blocks from thread to thread", threads},
        {"containers in an arena", containers},
        {"objects in an arena", objects},
        {"where a block is from", where_a_block_is_from},
    };
}
