// SPDX-License-Identifier: MIT
/* What jobs compute, whoever does it. */
#include "tests/spmd/run/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

using namespace test;

namespace {

constexpr unsigned rank_counts[] = {1, 2, 5};

void words_are_counted()
{
    const std::string text = made_text(20000);
    const Counts expected = counted(text);
    for (const unsigned ranks : rank_counts) {
        spmd::Cluster cluster(of_ranks(ranks));
        const auto result = cluster.run(word_count(text));
        CHECK(as_map(result.pairs()) == expected);
        CHECK_EQ(result.pairs().size(), expected.size());
        CHECK(std::is_sorted(result.pairs().begin(), result.pairs().end(),
                             [](const auto &a, const auto &b) { return a.key < b.key; }));
    }
}

/* Not combined: all values of a key come to its reduction, in the order of the input. */
void values_come_in_their_order()
{
    std::vector<std::uint32_t> numbers(30000);
    std::iota(numbers.begin(), numbers.end(), 0);
    spmd::Job<std::int16_t, std::uint32_t> job;
    job.input = spmd::Input::memory(std::span<const std::uint32_t>(numbers));
    job.block_bytes = 3000;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for (const std::uint32_t number : block.as<std::uint32_t>())
            out(static_cast<std::int16_t>(number % 7 - 3), number);
    };
    std::atomic<bool> in_order{true};
    job.cpu.reduce = [&](std::int16_t, spmd::Values<std::uint32_t> values) {
        if (!std::is_sorted(values.begin(), values.end()))
            in_order = false;
        return static_cast<std::uint32_t>(values.size());
    };
    for (const unsigned ranks : rank_counts) {
        const auto result = spmd::Cluster(of_ranks(ranks)).run(job);
        CHECK(in_order);
        CHECK_EQ(result.pairs().size(), std::size_t{7});
        CHECK_EQ(result.pairs()[0].key, -3);
        CHECK_EQ(result.pairs()[6].key, 3);
        CHECK_EQ(result.pairs()[0].value, 30000U / 7 + 1);
    }
}

struct Point {
    int x, y;
    auto operator<=>(const Point &) const = default;
};

/* Keys that are structures, values that are strings, an order that is the job's. */
void any_types_do()
{
    spmd::Job<Point, spmd::Bytes> job;
    job.input = spmd::Input::generated(100, sizeof(int), [](std::uint64_t first, std::span<std::byte> to) {
        for (std::size_t i = 0; i < to.size() / sizeof(int); i++) {
            const int number = static_cast<int>(first + i);
            std::memcpy(to.data() + i * sizeof(int), &number, sizeof number);
        }
    });
    job.block_bytes = 40;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for (const int number : block.as<int>())
            out(Point{number % 3, -number % 2}, std::string(static_cast<std::size_t>(number % 5), 'x'));
    };
    job.cpu.combine = [](std::string &into, std::string_view value) { into += value; };
    job.cpu.compare = [](const Point &a, const Point &b) { return b < a; };
    for (const unsigned ranks : rank_counts) {
        const auto result = spmd::Cluster(of_ranks(ranks)).run(job);
        CHECK_EQ(result.pairs().size(), std::size_t{6});
        CHECK_EQ(result.pairs()[0].key.x, 2);
        CHECK_EQ(result.pairs()[5].key.x, 0);
        std::size_t sum = 0;
        for (const auto [key, value] : result.pairs())
            sum += value.size();
        CHECK_EQ(sum, std::size_t{200});
    }
}

/* Without reduce and combine: pairs as they were mapped, by their keys. */
void maps_alone()
{
    spmd::Job<double, spmd::Bytes> job;
    job.input = spmd::Input::text("3 -1 2.5 -7 3 0 1e300 -1e-9", spmd::Records::words());
    job.block_bytes = 1;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        const std::string text(block.text().substr(0, block.text().find(' ')));
        out(std::stod(text), text);
    };
    const auto result = spmd::Cluster(of_ranks(2)).run(job);
    std::string all;
    for (const auto [key, value] : result.pairs())
        all += std::string(value) + ' ';
    CHECK_EQ(all == "-7 -1 -1e-9 0 2.5 3 3 1e300 ", true);
}

/* Sums of floating-point numbers depend on their order, which is one and the same. */
void ordered_sums_are_the_same_bits()
{
    std::vector<double> numbers(40000);
    for (std::size_t i = 0; i < numbers.size(); i++)
        numbers[i] = std::sin(static_cast<double>(i)) * std::pow(10, i % 13);
    spmd::Job<unsigned, double> job;
    job.input = spmd::Input::memory(std::span<const double>(numbers));
    job.ordered = true;
    job.block_bytes = 1000;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        std::uint64_t at = block.first;
        for (const double number : block.as<double>())
            out(static_cast<unsigned>(at++ % 3), number);
    };
    job.cpu.combine = [](double &into, double value) { into += value; };
    std::array<double, 3> first{};
    for (const unsigned ranks : {1, 2, 3, 8}) {
        const auto result = spmd::Cluster(of_ranks(ranks)).run(job);
        CHECK_EQ(result.pairs().size(), first.size());
        for (std::size_t i = 0; i < first.size(); i++) {
            if (ranks == 1)
                first[i] = result.pairs()[i].value;
            CHECK(std::memcmp(&first[i], &result.pairs()[i].value, sizeof(double)) == 0);
        }
    }
}

void nothing_comes_of_nothing()
{
    for (const unsigned ranks : rank_counts) {
        const auto result = spmd::Cluster(of_ranks(ranks)).run(word_count(""));
        CHECK(result.pairs().empty());
    }
}

void a_single_run_has_parameters()
{
    const std::vector<int> numbers{1, 2, 3, 4};
    spmd::Job<int, int> job;
    job.input = spmd::Input::memory(std::span<const int>(numbers));
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for (const int number : block.as<int>())
            out(0, number * block.parameters_as<int>()[0]);
    };
    job.cpu.combine = [](int &into, int value) { into += value; };
    for (const unsigned ranks : rank_counts) {
        spmd::Cluster cluster(of_ranks(ranks));
        CHECK_EQ(cluster.run(job, std::vector<int>{5}).pairs()[0].value, 50);
        CHECK_EQ(cluster.run(job, std::vector<int>{-1}).pairs()[0].value, -10);
    }
}

/* The input stays, the parameters are new each time. */
void iterations_have_new_parameters()
{
    std::vector<float> points(5000);
    for (std::size_t i = 0; i < points.size(); i++)
        points[i] = static_cast<float>(i % 100) + (i % 2 ? 1000.0F : 0.0F);
    struct Sum {
        double sum;
        std::uint64_t count;
    };
    spmd::Job<std::uint32_t, Sum> job;
    job.input = spmd::Input::memory(std::span<const float>(points));
    job.block_bytes = 500;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        const auto centres = block.parameters_as<float>();
        for (const float point : block.as<float>()) {
            std::uint32_t nearest = 0;
            for (std::uint32_t i = 1; i < centres.size(); i++)
                if (std::abs(point - centres[i]) < std::abs(point - centres[nearest]))
                    nearest = i;
            out(nearest, Sum{point, 1});
        }
    };
    job.cpu.combine = [](Sum &into, const Sum &value) {
        into.sum += value.sum;
        into.count += value.count;
    };
    for (const unsigned ranks : rank_counts) {
        spmd::Cluster cluster(of_ranks(ranks));
        auto loop = cluster.keep(job);
        std::vector<float> centres{400, 500};
        for (int i = 0; i < 5; i++) {
            const auto result = loop.run(centres);
            for (const auto [key, value] : result.pairs())
                centres[key] = static_cast<float>(value.sum / static_cast<double>(value.count));
        }
        CHECK_EQ(centres[0], 49.0F);
        CHECK_EQ(centres[1], 1050.0F);
    }
}

/* Ranks expect as few pairs as there were in the run before. */
void few_and_many_pairs_in_turn()
{
    std::vector<std::uint32_t> numbers(30000);
    for (std::uint32_t i = 0; i < numbers.size(); i++)
        numbers[i] = i;
    spmd::Job<std::uint32_t, std::uint64_t> job;
    job.input = spmd::Input::memory(std::span<const std::uint32_t>(numbers));
    job.block_bytes = 4000;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for (const std::uint32_t number : block.as<std::uint32_t>())
            out(number % block.parameters_as<std::uint32_t>()[0], number);
    };
    job.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
    for (const auto where : {spmd::Output::Where::root, spmd::Output::Where::everywhere, spmd::Output::Where::each})
        for (const unsigned ranks : rank_counts) {
            job.output.where = where;
            spmd::Cluster cluster(of_ranks(ranks));
            auto loop = cluster.keep(job);
            for (const std::uint32_t keys : {7U, 7U, 20000U, 20000U, 5U, 3U}) {
                const auto result = loop.run(std::vector{keys});
                std::uint64_t sum = 0, pairs = 0, bytes = 0;
                for (std::size_t part = 0; part < result.parts(); part++)
                    if (where != spmd::Output::Where::everywhere || part == 0)
                        for (const auto [key, value] : result.pairs(part)) {
                            sum += value;
                            pairs++;
                        }
                for (const spmd::Report::Rank &rank : result.report.ranks)
                    for (const spmd::Report::Device &device : rank.devices)
                        bytes += device.bytes;
                CHECK_EQ(pairs, keys);
                CHECK_EQ(sum, numbers.size() * (numbers.size() - 1) / 2);
                CHECK_EQ(result.report.ranks.size(), ranks);
                CHECK(bytes >= numbers.size() * sizeof(std::uint32_t)); /* some may be done twice */
            }
        }
}

void splits_give_the_same()
{
    const std::string text = made_text(5000);
    const Counts expected = counted(text);
    for (const spmd::Split &split : {spmd::Split(spmd::Static{}), spmd::Split(spmd::Static{1.0}), spmd::Split()}) {
        auto job = word_count(text);
        job.split = split;
        job.partitions = 7;
        CHECK(as_map(spmd::Cluster(of_ranks(3)).run(job).pairs()) == expected);
    }
}

void each_rank_keeps_its_part()
{
    const std::string text = made_text(5000);
    auto job = word_count(text);
    job.output.where = spmd::Output::Where::each;
    const auto result = spmd::Cluster(of_ranks(3)).run(job);
    CHECK_EQ(result.parts(), std::size_t{3});
    Counts all;
    std::size_t pairs = 0;
    for (unsigned part = 0; part < 3; part++) {
        all.merge(as_map(result.pairs(part)));
        pairs += result.pairs(part).size();
    }
    CHECK(all == counted(text));
    CHECK_EQ(pairs, all.size());
}

} // namespace

std::vector<tap::Case> test::job_cases()
{
    return {
        {"words are counted", words_are_counted},
        {"values come in their order", values_come_in_their_order},
        {"any types do", any_types_do},
        {"maps alone", maps_alone},
        {"ordered sums are the same bits", ordered_sums_are_the_same_bits},
        {"nothing comes of nothing", nothing_comes_of_nothing},
        {"a single run has parameters", a_single_run_has_parameters},
        {"iterations have new parameters", iterations_have_new_parameters},
        {"few and many pairs in turn", few_and_many_pairs_in_turn},
        {"splits give the same", splits_give_the_same},
        {"each rank keeps its part", each_rank_keeps_its_part},
    };
}
