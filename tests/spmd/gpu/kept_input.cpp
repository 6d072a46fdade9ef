// SPDX-License-Identifier: MIT
/* What of the input is on a GPU, and where. */
#include "libptsched/spmd/gpu/kept_input.hpp"

#include "tests/spmd/gpu/cases.hpp"

namespace test {

namespace {

using Ranges = std::vector<spmd::schedule::Range>;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

spmd::Block block_of(std::uint64_t begin, std::uint64_t end)
{
    spmd::Block block;
    block.offset = begin;
    block.bytes = end - begin;
    return block;
}

spmd::KeptInput::Place bring(spmd::KeptInput &kept, std::uint64_t begin, std::uint64_t end)
{
    const spmd::Block block = block_of(begin, end);
    const spmd::KeptInput::Place place = kept.make(*ptsched::device::gpus().front(), block);
    kept.keep(block, place);
    return place;
}

/* Blocks of a range that is expected, in any order: parts of several of them are there, too. */
void neighbours_are_one()
{
    spmd::KeptInput kept(no_limit);
    kept.expect({1000, 9000});
    const auto last = bring(kept, 5000, 9000), first = bring(kept, 1000, 4200);
    CHECK(first.copy == last.copy && last.offset - first.offset == 4000);
    CHECK(!kept.has({1000, 9000}) && !kept.find(block_of(4000, 6008)).copy);
    const auto all = kept.make(*ptsched::device::gpus().front(), block_of(1000, 9000));
    CHECK(kept.missing(block_of(1000, 9000), all) == Ranges({{4200, 5000}}));
    kept.keep(block_of(1000, 9000), all);
    CHECK(kept.has({1000, 9000}) && kept.missing(block_of(2000, 8000), all).empty());
    const auto some = kept.find(block_of(1160, 8888));
    CHECK(some.copy == all.copy && some.offset == 160);
    /* No function may load sixteen bytes at once from there. */
    CHECK(!kept.find(block_of(1008, 8888)).copy);
    kept.forget();
    CHECK(!kept.has({1000, 1001}) && !kept.find(block_of(1160, 8888)).copy);
}

/* Memory stays for a range that comes again, and goes for one that is divided in another way. */
void memory_outlives_bytes()
{
    spmd::KeptInput kept(no_limit);
    kept.expect({0, 4096});
    const auto before = bring(kept, 0, 4096);
    kept.expect({0, 2048});
    CHECK(kept.has({0, 4096}));
    kept.forget();
    kept.expect({0, 4096});
    CHECK(!kept.has({0, 1}));
    CHECK(bring(kept, 1024, 2048).copy == before.copy && kept.has({1024, 2048}));
    kept.forget();
    kept.expect({2048, 6144});
    CHECK(bring(kept, 2048, 6144).copy != before.copy);
    kept.expect({0, 2048});
    CHECK(bring(kept, 0, 2048).copy != before.copy && kept.has({2048, 6144}));
}

/* Those that are not, or that are too large, have memory of their own. */
void others_are_alone()
{
    spmd::KeptInput kept(1000);
    kept.expect({0, 2000});
    const auto one = bring(kept, 0, 1000), other = bring(kept, 1000, 2000);
    CHECK(one.copy && other.copy && one.copy != other.copy);
    CHECK(kept.has({0, 1000}) && kept.has({1000, 2000}) && !kept.has({0, 2000}));
    CHECK(kept.missing(block_of(500, 1500), one) == Ranges({{1000, 1500}}));
}

/* What is in use stays; what goes is all of a piece of memory. */
void room_is_made()
{
    spmd::KeptInput kept(no_limit);
    kept.expect({0, 2048});
    auto held = bring(kept, 0, 1024);
    bring(kept, 1024, 2048);
    CHECK(!kept.drop_one() && kept.has({0, 2048}));
    held = {};
    CHECK(kept.drop_one() && !kept.has({0, 1024}) && !kept.has({1024, 2048}));
    CHECK(!kept.drop_one());
    CHECK(!kept.make(*ptsched::device::gpus().front(), block_of(0, 1000)).copy);
}

} // namespace

std::vector<tap::Case> kept_input_cases()
{
    return {{"neighbours on a GPU are one", neighbours_are_one},
            {"memory for input outlives its bytes", memory_outlives_bytes},
            {"other blocks are alone", others_are_alone},
            {"room is made by what nobody uses", room_is_made}};
}

} // namespace test
