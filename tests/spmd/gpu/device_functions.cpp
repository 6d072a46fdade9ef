// SPDX-License-Identifier: MIT
/* Each way in which pairs of device functions are kept: what comes home is what the host has. */
#include "tests/spmd/gpu/cases.hpp"

namespace test {

namespace {

using U64 = std::uint64_t;

std::map<unsigned, U64> histogram_of(const std::vector<unsigned> &records)
{
    std::map<unsigned, U64> counts;
    for (const unsigned record : records)
        counts[record % 17]++;
    return counts;
}

/* All but those of the key that the kernel says it has not. */
std::vector<unsigned> in_range(std::size_t count)
{
    std::vector<unsigned> all = numbers(count);
    std::erase_if(all, [](unsigned record) { return record % 17 == 16; });
    return all;
}

void dense_record_by_record()
{
    const std::vector<unsigned> records = in_range(5000);
    const spmd::Program program = program_of<unsigned, U64>("histogram");
    Node node(program);
    node.map<unsigned>(records, 700);
    CHECK(node.pairs.empty());
    const unsigned portions = node.collect();
    CHECK(portions >= 1 && portions <= 2);
    CHECK((summed<unsigned, U64>(node.pairs) == histogram_of(records)));
    CHECK_EQ(node.pairs.size(), std::size_t{16} * portions);
    CHECK_EQ(node.collect(), 0U);
}

/* A key that no record has is none, and what was collected is not there any more. */
void dense_twice()
{
    const spmd::Program program = program_of<unsigned, U64>("histogram");
    Node node(program);
    const std::vector<unsigned> threes(50, 3), fives(20, 5);
    node.map<unsigned>(threes, 10);
    node.collect();
    CHECK((summed<unsigned, U64>(node.pairs) == std::map<unsigned, U64>{{3, 50}}));
    node.pairs.clear();
    node.map<unsigned>(fives, 10);
    node.collect();
    CHECK((summed<unsigned, U64>(node.pairs) == std::map<unsigned, U64>{{5, 20}}));
    node.pairs.clear();
    node.map<unsigned>(fives, 10);
    node.engine().forget_pairs();
    CHECK_EQ(node.collect(), 0U);
    CHECK(node.pairs.empty());
}

void dense_alone()
{
    const std::vector<unsigned> records = in_range(2000);
    const spmd::Program program = program_of<unsigned, U64>("histogram");
    Node node(program);
    node.map<unsigned>(records, 500, {.block = {}, .alone = true});
    CHECK_EQ(node.pairs.size(), 16U * ((records.size() + 499) / 500));
    CHECK((summed<unsigned, U64>(node.pairs) == histogram_of(records)));
    CHECK_EQ(node.collect(), 0U);
}

void dense_with_wrong_keys()
{
    const spmd::Program program = program_of<unsigned, U64>("histogram");
    Node node(program);
    const std::vector<unsigned> records{16};
    CHECK(contains(error_of([&] { node.map<unsigned>(records, 1); }), "a key is 16"));
    CHECK_EQ(node.collect(), 0U);
    const std::vector<unsigned> good{4, 4};
    node.map<unsigned>(good, 2);
    node.collect();
    CHECK((summed<unsigned, U64>(node.pairs) == std::map<unsigned, U64>{{4, 2}}));
}

struct Row {
    float of[4];
    Row operator+(const Row &other) const
    {
        return {of[0] + other.of[0], of[1] + other.of[1], of[2] + other.of[2], of[3] + other.of[3]};
    }
    bool operator==(const Row &) const = default;
};

/* The parameters of a piece are those that it has come with. */
void dense_by_blocks()
{
    std::vector<Row> rows;
    for (unsigned i = 0; i < 301; i++)
        rows.push_back({{1, static_cast<float>(i), 2, -static_cast<float>(i)}});
    const spmd::Program program = program_of<unsigned, Row>("columns");
    Node node(program);
    for (const float factor : {1.0F, 3.0F}) {
        std::map<unsigned, Row> wanted;
        for (unsigned i = 0; i < rows.size(); i++)
            for (unsigned column = 0; column < 4; column++)
                wanted[i % 2].of[column] += factor * rows[i].of[column];
        spmd::Piece like;
        like.block.parameters = std::as_bytes(std::span(&factor, 1));
        node.pairs.clear();
        node.map<Row>(rows, 64, like);
        node.collect();
        CHECK((summed<unsigned, Row>(node.pairs) == wanted));
    }
}

/* With the key that says that there is none, and more keys than a block of threads has room for. */
void table_of_numbers()
{
    const std::vector<unsigned> records = numbers(9000);
    std::map<U64, unsigned> wanted;
    for (const unsigned record : records) {
        const U64 key = record % 3000;
        unsigned &most = wanted[key == 2999 ? ~U64{0} : key * key];
        most = std::max(most, record);
    }
    const spmd::Program program = program_of<U64, unsigned>("squares");
    Node node(program);
    node.map<unsigned>(records, 4000);
    CHECK((combined<U64, unsigned>(node.pairs, [](unsigned a, unsigned b) { return std::max(a, b); }) == wanted));
    CHECK(node.pairs.size() < 2 * 3000 + 1100); /* three pieces */
    CHECK_EQ(node.collect(), 0U);
}

std::string text_of(unsigned words, unsigned different)
{
    std::string text;
    for (unsigned i = 0; i < words; i++)
        text += "w" + std::to_string(i * 7919 % different) + (i % 9 == 8 ? '\n' : ' ');
    return text;
}

std::map<std::string, U64> words_of(const std::string &text)
{
    std::map<std::string, U64> counts;
    for (std::size_t at = 0; (at = text.find_first_not_of(" \n", at)) < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
        counts[text.substr(at, end - at)]++;
        at = end;
    }
    return counts;
}

void count_words(const std::string &text)
{
    const spmd::Program program = program_of<spmd::Bytes, U64>("words");
    Node node(program);
    for (std::size_t first = 0; first < text.size();) {
        const std::size_t end = std::min(text.find('\n', std::min(first + 3000, text.size() - 1)), text.size() - 1) + 1;
        node.give({.block = {.data = reinterpret_cast<const std::byte *>(text.data()) + first,
                             .bytes = end - first,
                             .offset = first}});
        first = end;
    }
    node.wait();
    CHECK((summed<std::string, U64>(node.pairs) == words_of(text)));
}

void table_of_words()
{
    count_words(text_of(3000, 100) + "one" + std::string(70, 'x') + "end");
}

/* Each word once, and short ones: more keys than the table has at first. */
void table_that_grows()
{
    std::string text;
    for (unsigned i = 0; i < 6000; i++)
        text += std::string{static_cast<char>('!' + i % 90), static_cast<char>('!' + i / 90)} + ' ';
    const spmd::Program program = program_of<spmd::Bytes, U64>("words");
    Node node(program);
    for (unsigned i = 0; i < 2; i++) {
        node.pairs.clear();
        node.give({.block = {.data = reinterpret_cast<const std::byte *>(text.data()), .bytes = text.size()}});
        node.wait();
        CHECK((summed<std::string, U64>(node.pairs) == words_of(text)));
    }
}

void words_that_are_too_long()
{
    const spmd::Program program = program_of<spmd::Bytes, U64>("words");
    Node node(program);
    const std::string text(1 << 20, 'x');
    const auto map = [&] {
        node.give({.block = {.data = reinterpret_cast<const std::byte *>(text.data()), .bytes = text.size()}});
        node.wait();
    };
    CHECK(contains(error_of(map), "a byte string of 1048576 bytes"));
}

struct Pair {
    unsigned number, divisor;
};

void list_that_grows()
{
    const std::vector<unsigned> records = numbers(4000);
    const spmd::Program program = program_of<unsigned, Pair>("divisors", false);
    Node node(program);
    node.map<unsigned>(records, 1000);
    std::map<unsigned, std::vector<unsigned>> found, wanted;
    for (std::size_t i = 0; i < node.pairs.size(); i++) {
        const auto key = node.pairs.keys.get<unsigned>(i);
        const auto pair = node.pairs.values.get<Pair>(i);
        CHECK_EQ(pair.divisor, key);
        found[key].push_back(pair.number);
    }
    for (const unsigned record : records)
        for (unsigned i = 1; i <= 8; i++)
            if (record % i == 0)
                wanted[i].push_back(record);
    for (auto &[key, those] : found)
        std::sort(those.begin(), those.end());
    CHECK(found == wanted);
}

void records_of_any_size()
{
    constexpr std::size_t columns = 37, rows = 90;
    std::vector<float> matrix(rows * columns);
    std::iota(matrix.begin(), matrix.end(), 0.0F);
    const spmd::Program program = program_of<U64, float>("row_sums", false);
    Node node(program);
    for (std::size_t first = 0; first < rows; first += 30)
        node.give({.block = {.data = reinterpret_cast<const std::byte *>(&matrix[first * columns]),
                             .bytes = 30 * columns * sizeof(float),
                             .first = first,
                             .records = 30}});
    node.wait();
    std::map<U64, float> wanted;
    for (std::size_t row = 0; row < rows; row++)
        for (std::size_t column = 0; column < columns; column++)
            wanted[row] += matrix[row * columns + column];
    CHECK((summed<U64, float>(node.pairs) == wanted));
}

void functions_that_are_not_there()
{
    const auto error_with = [](const spmd::Program &program) { return error_of([&] { Node node(program); }); };
    CHECK(contains(error_with(program_of<unsigned, U64>("nothing_such")), "nothing_such"));
    CHECK(contains(error_with(program_of<unsigned, U64>("no_functions")), "none of <ptsched/spmd.cuh>"));
    CHECK(
        contains(error_with(program_of<U64, U64>("histogram")), "has keys of 4 bytes, and those of the job are of 8"));
    CHECK(contains(error_with(program_of<unsigned, unsigned>("histogram")), "has values of 8 bytes"));
    CHECK(contains(error_with(program_of<unsigned, U64>("words")), "has keys byte strings"));
    CHECK(contains(error_with(program_of<unsigned, U64>("histogram", false)), "is to have combine"));
    spmd::Program program = program_of<unsigned, U64>("histogram");
    program.gpu.kernels.module = "/nowhere.fatbin";
    CHECK(contains(error_with(program), "/nowhere.fatbin"));
    program.gpu.host.map = [](spmd::GpuBlock &) {};
    CHECK(contains(error_with(program), "one of the two"));
}

void records_of_another_size()
{
    const spmd::Program program = program_of<unsigned, U64>("histogram");
    Node node(program);
    const std::vector<char> records(10);
    CHECK(contains(error_of([&] { node.map<char>(records, 10); }), "has records of 4 bytes, and a block has 10"));
}

} // namespace

std::vector<tap::Case> device_function_cases()
{
    return {{"dense keys, record by record: kept, and collected once", dense_record_by_record},
            {"dense keys: keys without records, and what was collected or forgotten, are not there", dense_twice},
            {"dense keys: a piece that is alone brings its pairs", dense_alone},
            {"dense keys: one that is too large is named, and the engine goes on", dense_with_wrong_keys},
            {"dense keys, by blocks, with parameters that change", dense_by_blocks},
            {"a table of numbers", table_of_numbers},
            {"a table of byte strings", table_of_words},
            {"a table that is too small at first", table_that_grows},
            {"a byte string that is too long is an error", words_that_are_too_long},
            {"a list that is too short at first", list_that_grows},
            {"records of any size", records_of_any_size},
            {"functions that are not there, or of other types, are named", functions_that_are_not_there},
            {"records of another size than the functions have", records_of_another_size}};
}

} // namespace test
