// SPDX-License-Identifier: MIT
/* What kernels and copies do on the virtual GPU is what is done without them. */
#include "libptsched/arena/coherence/words.hpp"
#include "tests/arena/coherence/cases.hpp"

#include <algorithm>
#include <random>
#include <sys/wait.h>

using namespace test;
using arena::Party;

namespace {

constexpr std::size_t pages = 6;

/* The same content, on the virtual GPU and beside it. */
struct Pair {
    Pair()
        : real(pages, device::gpus().at(0)), fake(pages), real_side(arena::make_gpu_side(real)),
          fake_side(std::make_unique<FakeGpuSide>(fake)), real_place{0, real_side->make_twin(pages * page_bytes)},
          fake_place{0, fake_side->make_twin(pages * page_bytes)}
    {
        for (std::size_t at = 0; at < pages * page_bytes; at += 4) {
            host_writes(at, word(at, 1));
            kernel_writes(at, word(at, 2));
            twin(real_place, at) = word(at, 2);
            twin(fake_place, at) = word(at, 2);
        }
    }
    ~Pair()
    {
        real_side->release_twin(real_place.twin, pages * page_bytes);
        fake_side->release_twin(fake_place.twin, pages * page_bytes);
    }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;

    static std::uint32_t word(std::size_t at, unsigned which) { return static_cast<std::uint32_t>(at * 7 + which); }
    static volatile std::uint32_t &twin(const arena::Place &place, std::size_t at)
    {
        return *static_cast<volatile std::uint32_t *>(device::host_pointer(place.twin + at));
    }
    /* Where the two differ; bytes of all that there is if they do not. */
    std::size_t difference()
    {
        for (std::size_t at = 0; at < pages * page_bytes; at += 4)
            if (real.home(at) != fake.home(at) || real.kernel(at) != fake.kernel(at) ||
                twin(real_place, at) != twin(fake_place, at))
                return at;
        return pages * page_bytes;
    }
    void kernel_writes(std::size_t at, std::uint32_t value)
    {
        real.kernel(at) = value;
        fake.kernel(at) = value;
    }
    void host_writes(std::size_t at, std::uint32_t value)
    {
        real.home(at) = value;
        fake.home(at) = value;
    }

    FakeMemories real, fake;
    const std::unique_ptr<arena::GpuSide> real_side;
    const std::unique_ptr<FakeGpuSide> fake_side;
    const arena::Place real_place, fake_place;
};

template <typename Function> void on_both(Pair &pair, Function function)
{
    const auto real = pair.real_side->begin(), fake = pair.fake_side->begin();
    function(*real, pair.real_place, pair.real);
    function(*fake, pair.fake_place, pair.fake);
    real->finish();
    fake->finish();
    CHECK_EQ(pair.difference(), pages * page_bytes);
}

void copies()
{
    Pair pair;
    on_both(pair, [](arena::GpuWork &work, const arena::Place &place, FakeMemories &) { work.fill(place, {1, 2}); });
    pair.kernel_writes(4 * page_bytes, 5);
    on_both(pair, [](arena::GpuWork &work, const arena::Place &place, FakeMemories &) { work.adopt(place, {4, 1}); });
    pair.kernel_writes(0, 7);
    pair.kernel_writes(4 * page_bytes, 6);
    on_both(pair, [](arena::GpuWork &work, const arena::Place &place, FakeMemories &) {
        using From = arena::GpuWork::From;
        work.fetch(place, {3, 3}, From::twin);
        work.fetch(place, {0, 1}, From::current);
    });
    CHECK_EQ(std::uint32_t{pair.real.home(4 * page_bytes)}, 5U);
    CHECK_EQ(std::uint32_t{pair.real.home(0)}, 7U);
}

void words_come()
{
    Pair pair;
    on_both(pair, [](arena::GpuWork &work, const arena::Place &place, FakeMemories &memories) {
        const auto home = [&](std::size_t page) {
            return reinterpret_cast<std::uintptr_t>(memories.alias() + page * page_bytes);
        };
        const arena::ArenaIncoming incoming[] = {{home(3), 3, 0}, {0, 1, 0}, {home(5), 5, 1}};
        work.bring(place, incoming);
    });
    /* Words of page 5 are all the host's now; those that differ later are to come alone. */
    pair.kernel_writes(5 * page_bytes + 8, 1);
    pair.kernel_writes(5 * page_bytes + 12, 2);
    pair.host_writes(5 * page_bytes + 12, 3);
    pair.host_writes(6 * page_bytes - 4, 4);
    on_both(pair, [](arena::GpuWork &work, const arena::Place &place, FakeMemories &memories) {
        const arena::ArenaIncoming incoming[] = {
            {reinterpret_cast<std::uintptr_t>(memories.alias() + 5 * page_bytes), 5, 1}};
        work.bring(place, incoming);
    });
    CHECK_EQ(std::uint32_t{pair.real.kernel(5 * page_bytes + 8)}, 1U);
    CHECK_EQ(std::uint32_t{pair.real.kernel(5 * page_bytes + 12)}, 3U);
    CHECK_EQ(std::uint32_t{pair.real.kernel(6 * page_bytes - 4)}, 4U);
}

/* Kernels may read it until all is finished. */
void what_is_staged_stays()
{
    Pair pair;
    for (unsigned round = 1; round <= 3; round++)
        on_both(pair, [&](arena::GpuWork &work, const arena::Place &place, FakeMemories &) {
            for (unsigned page = 0; page < pages; page++) {
                auto *const staged = reinterpret_cast<std::uint32_t *>(work.stage(page_bytes));
                std::fill_n(staged, page_bytes / 4, 100 * round + page);
                const arena::ArenaIncoming incoming[] = {{reinterpret_cast<std::uintptr_t>(staged), page, 0}};
                work.bring(place, incoming);
            }
        });
}

void words_go()
{
    Pair pair;
    pair.kernel_writes(2 * page_bytes + 8, 1);
    pair.kernel_writes(4 * page_bytes + 8, 2);
    on_both(pair, [](arena::GpuWork &work, const arena::Place &place, FakeMemories &memories) {
        const auto home = [&](std::size_t page) {
            return reinterpret_cast<std::uintptr_t>(memories.alias() + page * page_bytes);
        };
        const arena::ArenaOutgoing outgoing[] = {{home(2), 2, 0}, {home(3), 3, 1}, {0, 4, 0}};
        work.send(place, outgoing);
    });
    CHECK_EQ(std::uint32_t{pair.real.home(2 * page_bytes + 8)}, 1U);
    CHECK_EQ(std::uint32_t{pair.real.home(4 * page_bytes + 8)}, Pair::word(4 * page_bytes + 8, 1));
}

struct Found {
    std::vector<unsigned> changed;
    std::vector<std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>> words;
};

Found found_by(arena::GpuWork &work, const arena::Place &place, const std::vector<arena::ArenaCompared> &compared)
{
    Found found;
    const bool with_twin = compared.front().mode == arena::arena_pack_with_twin;
    found.changed.resize(compared.size());
    work.compare(place, compared, found.changed, [&](std::span<const unsigned> packed) {
        arena::for_each_packed(packed, with_twin, [&](const arena::Difference &one) {
            found.words.push_back({one.offset, {one.is, one.was}});
        });
    });
    std::sort(found.words.begin(), found.words.end());
    return found;
}

void check_found(Pair &pair, const std::vector<arena::ArenaCompared> &compared)
{
    const auto real = pair.real_side->begin(), fake = pair.fake_side->begin();
    const Found by_real = found_by(*real, pair.real_place, compared);
    const Found by_fake = found_by(*fake, pair.fake_place, compared);
    CHECK(by_real.changed == by_fake.changed);
    CHECK_EQ(by_real.words.size(), by_fake.words.size());
    CHECK(by_real.words == by_fake.words);
    CHECK_EQ(pair.difference(), pages * page_bytes);
}

void differences()
{
    for (const unsigned mode : {arena::arena_pack, arena::arena_pack_with_twin, arena::arena_count}) {
        Pair pair;
        std::mt19937 random(mode);
        /* Of page 0 none, of 1 single words and the corners, of 2 nearly all, of 3 one. */
        for (const std::size_t at : {0, 4, 4096, 65532})
            pair.kernel_writes(page_bytes + at, 1);
        for (int i = 0; i < 200; i++)
            pair.kernel_writes(page_bytes + random() % 16384 * 4, 2);
        for (std::size_t at = 0; at < page_bytes; at += 4)
            if (random() % 8)
                pair.kernel_writes(2 * page_bytes + at, 3);
        pair.kernel_writes(3 * page_bytes + 12345 * 4, 4);
        check_found(pair, {{0, mode}, {1, mode}, {2, mode}, {3, mode}});
        /* They are equal now. */
        const auto work = pair.real_side->begin();
        const Found again = found_by(*work, pair.real_place, {{1, mode}, {2, mode}});
        CHECK(again.words.empty());
        CHECK(again.changed == std::vector<unsigned>({0, 0}));
    }
}

/* More than there is room for at first. */
void all_is_different()
{
    Pair pair;
    std::vector<arena::ArenaCompared> compared;
    for (unsigned page = 0; page < pages; page++) {
        compared.push_back({page, arena::arena_pack_with_twin});
        for (std::size_t at = 0; at < page_bytes; at += 4)
            pair.kernel_writes(page * page_bytes + at, static_cast<std::uint32_t>(at));
    }
    check_found(pair, compared);
}

/* Regions with pages by all ways, on real kernels. */
void a_region()
{
    FakeMemories memories(64, device::gpus().at(0));
    arena::Coherence coherence(memories, {});
    arena::Region &region = coherence.add({});
    coherence.grow(region, {0, 40 * page_bytes});
    coherence.grow(region, {48 * page_bytes, 4 * page_bytes});
    for (std::size_t page = 0; page < 20; page++)
        memories.host(page * page_bytes + 8) = static_cast<std::uint32_t>(page + 1);
    coherence.release(region, Party::host);
    coherence.access(region, Party::gpus);
    unsigned wrong = 0;
    for (std::size_t page = 0; page < 40; page++) {
        wrong += memories.kernel(page * page_bytes + 8) != (page < 20 ? page + 1 : 0);
        memories.kernel(page * page_bytes + 12) = 7;
    }
    memories.host(3 * page_bytes + 16) = 9;
    memories.kernel(51 * page_bytes) = 8;
    coherence.release(region, Party::gpus);
    coherence.acquire(region, Party::host);
    for (std::size_t page = 0; page < 40; page++)
        wrong += memories.host(page * page_bytes + 12) != 7;
    CHECK_EQ(wrong, 0U);
    CHECK_EQ(std::uint32_t{memories.host(51 * page_bytes)}, 8U);
    CHECK_EQ(std::uint32_t{memories.host(3 * page_bytes + 16)}, 9U);
    coherence.take_ownership(region, Party::gpus);
    CHECK_EQ(std::uint32_t{memories.kernel(3 * page_bytes + 16)}, 9U);
}

/* What is in the tree is what nvcc makes of the source. */
void ptx_is_made_of_the_source()
{
    CHECK_EQ(std::system(KERNEL_PTX " --check libptsched/arena/coherence"), 0);
}

std::string why_no_nvcc()
{
    const int status = std::system(KERNEL_PTX " --made-by libptsched/arena/coherence");
    return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? "no nvcc of the release that has made it" : "";
}

} // namespace

std::vector<tap::Case> test::kernel_cases()
{
    return {{"kernels: copies", copies},
            {"kernels: words come", words_come},
            {"kernels: what is staged stays", what_is_staged_stays},
            {"kernels: words go", words_go},
            {"kernels: differences", differences},
            {"kernels: all is different", all_is_different},
            {"kernels: a region", a_region},
            {"kernels: PTX is made of the source", ptx_is_made_of_the_source, why_no_nvcc()}};
}
