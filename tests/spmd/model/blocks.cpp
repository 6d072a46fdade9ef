// SPDX-License-Identifier: MIT
/* Sizes of blocks, and when streams pay. */
#include "libptsched/spmd/model/blocks.hpp"

#include "tests/spmd/model/cases.hpp"

namespace test {
namespace {

using namespace ptsched::spmd::model;

constexpr double giga = 1e9;

Machine machine()
{
    Machine machine;
    machine.cpu = {"", 16, {2000 * giga, 1000 * giga}, 400 * giga};
    machine.gpus = {Gpu{.name = "",
                        .peak = {60000 * giga, 30000 * giga},
                        .dram = 4000 * giga,
                        .to_gpu = 50 * giga,
                        .to_host = 50 * giga,
                        .memory = 140ull << 30}};
    return machine;
}

Blocks blocks_of(double intensity, double bytes, const Conditions &conditions = {}, const BlockOptions &options = {})
{
    const Intensity both{intensity, intensity, Precision::fp64};
    return blocks(machine(), both, conditions, share(machine(), both, conditions), bytes, options);
}

/* (11): of a matrix product, whose n * n numbers take 2 n^3 operations, the intensity grows with the block. */
void test_min_block()
{
    const auto product = [](double bytes) { return 2 * std::pow(bytes / 8 / 2, 1.5) / bytes; };
    const double agr = ridge(machine(), machine().gpus[0], Precision::fp64);
    const auto least = min_block(product, agr, 1e12);
    CHECK(least.has_value());
    CHECK(near(product(*least), agr, 1e-6));
    CHECK(product(*least * 0.999) < agr);
    /* No block is large enough; all are. */
    CHECK(!min_block([](double) { return 1.0; }, agr, 1e12));
    CHECK(!min_block(product, agr, *least / 2));
    CHECK(near(*min_block([&](double) { return agr; }, agr, 1e12), 1));

    holds("it is the smallest with which the ridge is reached", [] {
        const double power = *rc::gen::inRange(1, 300) / 100.0,
                     ridge = std::pow(10, *rc::gen::inRange(0, 4000) / 1000.0);
        const auto grows = [&](double bytes) { return std::pow(bytes, power); };
        const auto least = min_block(grows, ridge, 1e15);
        RC_ASSERT(least.has_value() == (grows(1e15) >= ridge));
        if (!least)
            return;
        RC_ASSERT(grows(*least) >= ridge);
        RC_ASSERT(*least < 2.01 || grows(*least - 1.01) < ridge || grows(*least * (1 - 2e-9)) < ridge);
    });
}

/* (9): a half if transfers and computing take the same time, as at the ridge; there streams have the most to hide. */
void test_overlap()
{
    const Machine node = machine();
    const Gpu &gpu = node.gpus[0];
    const double agr = ridge(machine(), gpu, Precision::fp64);
    CHECK(near(overlap(machine(), gpu, agr, Precision::fp64), 0.5));
    CHECK(near(overlap(machine(), gpu, 3 * agr, Precision::fp64), 0.25));
    CHECK(near(overlap(machine(), gpu, 0, Precision::fp64), 1));
    CHECK(near(gain_of_streams(0.5), 2));
    CHECK(near(gain_of_streams(1), 1));
    CHECK(near(gain_of_streams(0), 1));
}

void test_streams()
{
    const double agr = ridge(machine(), machine().gpus[0], Precision::fp64);
    CHECK_EQ(blocks_of(agr, 1e11).gpus[0].at_once, 2u);
    CHECK_EQ(blocks_of(agr, 1e11, {.home = 1}).gpus[0].at_once, 3u);
    /* All is transfer, or all is computing: that is not to wait, but there is nothing else to hide. */
    CHECK_EQ(blocks_of(agr / 1000, 1e11, {.home = 1}).gpus[0].at_once, 2u);
    CHECK_EQ(blocks_of(agr * 1000, 1e11).gpus[0].at_once, 2u);
    /* One block is all there is. */
    CHECK_EQ(blocks_of(agr, 1e6).gpus[0].at_once, 1u);
}

void test_sizes()
{
    const auto product = [](double bytes) { return 2 * std::pow(bytes / 16, 1.5) / bytes; };
    const double agr = ridge(machine(), machine().gpus[0], Precision::fp64);
    const Blocks large = blocks_of(agr, 1e12, {}, {.intensity_of = product});
    CHECK(large.gpus[0].min_block.has_value());
    CHECK(static_cast<double>(large.gpus[0].bytes) >= *large.gpus[0].min_block);
    CHECK(static_cast<double>(large.gpus[0].least) >= *large.gpus[0].min_block - 1);
    /* Memory is the limit, whatever (11) would have. */
    const Blocks tight = blocks_of(agr, 1e12, {}, {.gpu_memory = 1 << 20});
    CHECK(tight.gpus[0].bytes * tight.gpus[0].at_once <= 1 << 20);

    holds("each core has several blocks, none of them too small, and a part is not exceeded", [] {
        const double bytes = std::pow(10, *rc::gen::inRange(3000, 12000) / 1000.0);
        const double intensity = std::pow(10, *rc::gen::inRange(-2000, 4000) / 1000.0);
        const Intensity both{intensity, intensity, Precision::fp64};
        const Share all = share(machine(), both);
        const Blocks sizes = blocks_of(intensity, bytes);
        RC_ASSERT(sizes.cpu.at_once == 16);
        RC_ASSERT(sizes.cpu.bytes >= 1 && sizes.cpu.least <= sizes.cpu.bytes);
        RC_ASSERT(static_cast<double>(sizes.cpu.bytes) <= std::max(1.0, all.cpu * bytes / 16));
        RC_ASSERT(sizes.cpu.bytes == sizes.cpu.least || all.cpu * bytes / static_cast<double>(sizes.cpu.bytes) >= 63.9);
        RC_ASSERT(static_cast<double>(sizes.gpus[0].bytes) <= std::max(1.0, all.gpus[0] * bytes));
        RC_ASSERT(sizes.gpus[0].least <= sizes.gpus[0].bytes);
        /* 20 times the latency of a block, unless there is not so much. */
        const double worth = all.gpu_rates[0] * 20 * machine().gpus[0].latency;
        RC_ASSERT(static_cast<double>(sizes.gpus[0].bytes) >= std::min(worth, all.gpus[0] * bytes) - 1);
    });
    const Blocks none = blocks(machine(), {1, std::nullopt}, {}, share(machine(), {1, std::nullopt}), 1e9);
    CHECK_EQ(none.gpus[0].bytes, std::uint64_t{0});
    CHECK(error_of([] { blocks_of(1, -1); }).find("size of a partition") != std::string::npos);
}

} // namespace

std::vector<tap::Case> block_cases()
{
    return {
        {"the smallest block for the peak", test_min_block},
        {"how much of a block is transfer", test_overlap},
        {"streams where they pay", test_streams},
        {"sizes of blocks", test_sizes},
    };
}

} // namespace test
