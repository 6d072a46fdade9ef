// SPDX-License-Identifier: MIT
#include "samples/spmd/wordcount/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

namespace ptsched::samples::wordcount {

namespace {

constexpr std::size_t most_in_sequence = 64; /* blocks */
constexpr std::size_t vocabulary = 1 << 16, longest = 13, line_bytes = 80;

/* One of the vocabulary; returns behind it. */
char *write_word(char *to, std::size_t number)
{
    std::uint64_t bits = bits_at(1, number);
    const std::size_t letters = 2 + bits % (longest - 2);
    for (std::size_t i = 0; i < letters; i++) {
        bits = bits_at(2, bits);
        *to++ = static_cast<char>('a' + bits % 26);
    }
    return to;
}

/* Lines of words up to the end of a block: a word's frequency falls with its number. */
void write_block(char *begin, std::size_t block)
{
    char *to = begin, *line = begin, *const end = begin + block_bytes;
    for (std::size_t i = block * block_bytes; end - to > static_cast<std::ptrdiff_t>(longest); i++) {
        const double part = static_cast<double>(bits_at(3, i) >> 11) * 0x1p-53;
        to = write_word(to, static_cast<std::size_t>(std::pow(static_cast<double>(vocabulary), part)) - 1);
        const bool is_full = to - line > static_cast<std::ptrdiff_t>(line_bytes);
        *to++ = is_full ? '\n' : ' ';
        line = is_full ? to : line;
    }
    std::fill(to, end, '\n');
}

/* From the begin of a line that is in the part of the file to where the next part's begins. */
Share lines_of(const std::string &file, Share part)
{
    std::ifstream from(file, std::ios::binary);
    const auto begin_of = [&](std::size_t at) {
        if (!at)
            return at;
        from.clear();
        from.seekg(static_cast<std::streamoff>(at - 1));
        for (int c = from.get(); c != '\n' && c != std::ifstream::traits_type::eof(); c = from.get())
            at++;
        return at;
    };
    const std::size_t first = begin_of(part.first);
    return {first, std::max(first, begin_of(part.first + part.count)) - first};
}

Share share_of_text(const Ranks &ranks, const Shape &shape)
{
    if (!shape.file.empty())
        return lines_of(shape.file, ranks.share(std::filesystem::file_size(shape.file)));
    const Share blocks = ranks.share(shape.blocks);
    return {blocks.first * block_bytes, blocks.count * block_bytes};
}

} // namespace

Counts count_in_sequence(std::string_view text)
{
    std::map<std::string_view, std::uint64_t> counts;
    each_word(text, [&](std::string_view word) { counts[word]++; });
    return {counts.begin(), counts.end()};
}

Problem::Problem(const Ranks &of, const Shape &with)
    : ranks(of), shape(with), share_(share_of_text(of, with)),
      bytes_(with.file.empty() ? with.blocks * block_bytes : std::filesystem::file_size(with.file)), text_(bytes_)
{
    if (!with.file.empty())
        read();
    else
        make();
    if (of.is_first() && bytes_ / block_bytes <= most_in_sequence)
        expected_ = count_in_sequence(all_text());
}

void Problem::make()
{
    in_parts(shape.blocks, 1,
             [&](std::size_t block, std::size_t) { write_block(text_.data() + block * block_bytes, block); });
}

void Problem::read()
{
    std::ifstream from(shape.file, std::ios::binary);
    if (!from.read(text_.data(), static_cast<std::streamsize>(bytes_)))
        throw Error("cannot read " + shape.file);
}

void Problem::check(const Counts &counts, const std::string &by)
{
    if (expected_.empty())
        expected_ = counts;
    if (counts != expected_)
        throw Error("the count of words " + by + " is wrong: " + std::to_string(counts.size()) + " of them, and " +
                    std::to_string(expected_.size()) + " are expected");
}

} // namespace ptsched::samples::wordcount
