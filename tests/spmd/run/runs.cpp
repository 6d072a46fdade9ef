// SPDX-License-Identifier: MIT
/* Runs of pairs in order, and what becomes of several. */
#include "libptsched/spmd/pairs/run.hpp"
#include "libptsched/spmd/pairs/shared_table.hpp"
#include "libptsched/spmd/run/reduce.hpp"
#include "tests/spmd/run/cases.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

using namespace test;

namespace {

using Key = std::uint32_t;

spmd::Program numbered()
{
    spmd::Program program;
    program.key_width = sizeof(Key);
    program.value_width = spmd::any_width;
    program.order = spmd::Order::unsigned_numbers;
    return program;
}

std::string value_of(Key key)
{
    return std::string(1000, static_cast<char>('a' + key % 26)) + std::to_string(key);
}

/* Of keys from @first on. @memory: of bytes that stay out of files. */
class Runs {
public:
    explicit Runs(std::size_t memory = std::size_t{1} << 30)
        : spill_(std::make_shared<spmd::Spill>(memory, folder_.path()))
    {
    }
    void add(Key first, Key count)
    {
        spmd::RunWriter writer(spill_, program_.key_width, program_.value_width, runs_.size());
        for (Key key = first; key < first + count; key++)
            writer.append({reinterpret_cast<const char *>(&key), sizeof key}, value_of(key));
        runs_.push_back(writer.finish());
    }
    std::optional<spmd::Run> join() { return spmd::joined(spmd::KeyOrder(program_), runs_); }
    spmd::Run merge() { return spmd::merge_runs(program_, spill_, std::move(runs_), false); }
    std::size_t count() const { return runs_.size(); }
    /* Are these the keys of the run, with their values? */
    bool has(spmd::Run run, std::vector<Key> keys) const
    {
        std::vector<spmd::Run> one;
        one.push_back(std::move(run));
        const spmd::KeyOrder order(program_);
        std::vector<Key> found;
        for (spmd::Merge merge(order, std::move(one)); !merge.at_end(); merge.next()) {
            Key key = 0;
            std::memcpy(&key, merge.key().data(), sizeof key);
            found.push_back(key);
            if (merge.value() != value_of(key))
                return false;
        }
        return found == keys;
    }

private:
    const Folder folder_;
    const spmd::Program program_ = numbered();
    std::shared_ptr<spmd::Spill> spill_;
    std::vector<spmd::Run> runs_;
};

std::vector<Key> keys_to(Key end)
{
    std::vector<Key> keys(end);
    for (Key i = 0; i < end; i++)
        keys[i] = i;
    return keys;
}

void runs_behind_one_another_are_joined()
{
    for (const std::size_t memory : {std::size_t{1} << 30, std::size_t{1} << 20}) {
        Runs runs(memory);
        runs.add(2000, 1000);
        runs.add(0, 1000);
        runs.add(3000, 0);
        runs.add(1000, 1000);
        std::optional<spmd::Run> all = runs.join();
        if (!CHECK(all.has_value()))
            return;
        CHECK_EQ(all->place, std::uint64_t{0});
        CHECK_EQ(all->size(), std::uint64_t{3000});
        CHECK(runs.has(std::move(*all), keys_to(3000)));
    }
}

/* A key that two runs have is in both, the values of the one that came first before the other's. */
void others_are_merged()
{
    Runs runs;
    runs.add(0, 1000);
    runs.add(999, 1000);
    CHECK(!runs.join().has_value());
    CHECK_EQ(runs.count(), std::size_t{2});
    std::vector<Key> keys = keys_to(1999);
    keys.insert(keys.begin() + 999, 999);
    CHECK(runs.has(runs.merge(), keys));
}

/* What is small is copied, so that messages are not. */
void small_ones_are_merged()
{
    Runs runs;
    for (Key i = 0; i < 100; i++)
        runs.add(i, 1);
    CHECK(!runs.join().has_value());
    spmd::Run run = runs.merge();
    CHECK_EQ(run.chunks.size(), std::size_t{1});
    CHECK(runs.has(std::move(run), keys_to(100)));
}

/* Map alone, in the order of the input, in the other, and with pairs in files: all rows are there, in order. */
void rows_need_no_merge()
{
    using Row = std::array<double, 1000>;
    std::vector<Row> rows(500);
    for (std::size_t i = 0; i < rows.size(); i++)
        rows[i].fill(static_cast<double>(i));
    for (const unsigned ranks : {1U, 3U})
        for (const bool is_reversed : {false, true})
            for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 20}) {
                spmd::Job<Key, Row> job;
                job.input = spmd::Input::memory(std::span<const Row>(rows));
                job.block_bytes = 20 * sizeof(Row);
                job.cpu.map = [](const spmd::Block &block, auto &out) {
                    for (std::uint64_t i = 0; i < block.records; i++)
                        out(static_cast<Key>(block.first + i), block.as<Row>()[i]);
                };
                if (is_reversed)
                    job.cpu.compare = [](Key a, Key b) { return b < a; };
                spmd::Options options = of_ranks(ranks);
                options.memory = memory;
                const auto result = spmd::Cluster(options).run(job);
                CHECK_EQ(result.pairs().size(), rows.size());
                bool all_right = true;
                for (std::size_t i = 0; i < result.pairs().size(); i++) {
                    const std::size_t row = is_reversed ? rows.size() - 1 - i : i;
                    all_right = all_right && result.pairs()[i].key == row && result.pairs()[i].value == rows[row];
                }
                CHECK(all_right);
            }
}

/* Several threads add the same keys: each has one value, and what there is no room for is not lost. */
void a_table_is_shared()
{
    spmd::Program program = numbered();
    program.value_width = sizeof(std::uint64_t);
    program.combine = [](std::byte *into, const std::byte *value) {
        std::uint64_t sum = 0, add = 0;
        std::memcpy(&sum, into, sizeof sum);
        std::memcpy(&add, value, sizeof add);
        sum += add;
        std::memcpy(into, &sum, sizeof sum);
    };
    constexpr unsigned threads = 3, times = 20;
    constexpr Key keys = 1000;
    spmd::Pairs pairs(sizeof(Key), sizeof(std::uint64_t));
    for (Key key = 0; key < keys; key++) {
        const std::uint64_t value = key;
        pairs.append({reinterpret_cast<const char *>(&key), sizeof key},
                     {reinterpret_cast<const char *>(&value), sizeof value});
    }
    for (const std::size_t most : {std::size_t{1} << 30, std::size_t{10000}}) {
        spmd::SharedTable table(program, threads);
        std::vector<spmd::Pairs> much;
        std::mutex mutex;
        std::vector<std::thread> workers;
        for (unsigned thread = 0; thread < threads; thread++)
            workers.emplace_back([&, thread] {
                for (unsigned i = 0; i < times; i++) {
                    spmd::Pairs some = table.add({pairs, 0, keys / 3}, thread, most);
                    some.append(table.add({pairs, keys / 3, keys - keys / 3}, thread, most));
                    const std::lock_guard guard(mutex);
                    much.push_back(std::move(some));
                }
            });
        for (std::thread &worker : workers)
            worker.join();
        std::size_t in_tables = 0, in_all = 0;
        for (unsigned i = 0; i < table.tables(); i++)
            in_tables += table.size(i);
        for (unsigned i = 0; i < table.tables(); i++)
            much.push_back(table.take(i));
        std::map<Key, std::uint64_t> sums;
        for (const spmd::Pairs &some : much)
            for (std::size_t i = 0; i < some.size(); i++, in_all++) {
                Key key = 0;
                std::uint64_t value = 0;
                std::memcpy(&key, some.keys[i].data(), sizeof key);
                std::memcpy(&value, some.values[i].data(), sizeof value);
                sums[key] += value;
            }
        CHECK_EQ(sums.size(), std::size_t{keys});
        CHECK(std::all_of(sums.begin(), sums.end(),
                          [](const auto &sum) { return sum.second == std::uint64_t{sum.first} * threads * times; }));
        CHECK_EQ(in_tables == keys && in_all == keys, most > 10000);
    }
}

using Names = std::vector<std::pair<std::string, std::string>>;

/* Of many keys, several times each; the same each time. */
std::vector<spmd::Run> runs_of_names(const spmd::Program &program, const std::shared_ptr<spmd::Spill> &spill)
{
    constexpr unsigned keys = 1500, runs = 5;
    std::vector<spmd::Run> made;
    for (unsigned run = 0; run < runs; run++) {
        spmd::Pairs pairs(program.key_width, program.value_width);
        for (unsigned i = 0; i < keys; i++) {
            const std::string key = std::to_string(i * 7919 % keys * (i % 2 ? 1 : 1000000007));
            pairs.append(key, "run " + std::to_string(run));
            pairs.append(key, "run " + std::to_string(run) + " again");
        }
        std::vector<spmd::Run> one = spmd::make_runs(program, spill, std::move(pairs), runs - run, 1);
        made.push_back(std::move(one.front()));
    }
    return made;
}

/* What all processors do is what a merge does, equal keys included. */
void many_are_merged_side_by_side()
{
    for (const spmd::Order order : {spmd::Order::bytes, spmd::Order::by_function}) {
        spmd::Program program;
        program.key_width = program.value_width = spmd::any_width;
        program.order = order;
        program.before = [](std::string_view a, std::string_view b) { return a.size() < b.size(); };
        const auto spill = std::make_shared<spmd::Spill>(std::size_t{1} << 30, "");
        Names one_by_one, all;
        spmd::for_each_pair(program, runs_of_names(program, spill),
                            [&](std::string_view key, std::string_view value) { one_by_one.emplace_back(key, value); });
        spmd::Pairs pairs(spmd::any_width, spmd::any_width);
        spmd::append_all(program, runs_of_names(program, spill), pairs);
        for (std::size_t i = 0; i < pairs.size(); i++)
            all.emplace_back(pairs.keys[i], pairs.values[i]);
        CHECK_EQ(one_by_one.size(), std::size_t{15000});
        CHECK(all == one_by_one);
    }
}

} // namespace

std::vector<tap::Case> test::run_cases()
{
    return {
        {"runs: those behind one another are joined", runs_behind_one_another_are_joined},
        {"runs: others are merged", others_are_merged},
        {"runs: small ones are merged", small_ones_are_merged},
        {"runs: rows of a map alone", rows_need_no_merge},
        {"runs: many are merged side by side", many_are_merged_side_by_side},
        {"a table is shared", a_table_is_shared},
    };
}
