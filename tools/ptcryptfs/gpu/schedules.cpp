// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/gpu/schedules.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ptcryptfs::aes {

namespace {

constexpr Tables tables = make_tables();

std::uint8_t byte_of(std::uint32_t word, unsigned number)
{
    return static_cast<std::uint8_t>(word >> (8 * number));
}

std::uint32_t substituted(std::uint32_t word)
{
    std::uint32_t made = 0;
    for (unsigned i = 0; i < 4; i++)
        made |= static_cast<std::uint32_t>(tables.box[byte_of(word, i)]) << (8 * i);
    return made;
}

/* A column of a round key, as a round that decrypts before it adds needs it. */
std::uint32_t unmixed(std::uint32_t word)
{
    std::uint32_t made = 0;
    for (unsigned i = 0; i < 4; i++)
        made ^= std::rotl(tables.decrypt[tables.box[byte_of(word, i)]], static_cast<int>(8 * i));
    return made;
}

void expand(ConstBytes key, std::uint32_t *to)
{
    std::memcpy(to, key.data(), key_words * sizeof *to);
    std::uint8_t constant = 1;
    for (unsigned i = key_words; i < schedule_words; i++) {
        std::uint32_t word = to[i - 1];
        if (i % key_words == 0) {
            word = substituted(std::rotr(word, 8)) ^ constant;
            constant = doubled(constant);
        } else if (i % key_words == 4) {
            word = substituted(word);
        }
        to[i] = to[i - key_words] ^ word;
    }
}

void reverse(std::uint32_t *schedule)
{
    for (unsigned round = 0; round < rounds / 2; round++)
        std::swap_ranges(schedule + 4 * round, schedule + 4 * round + 4, schedule + 4 * (rounds - round));
    std::transform(schedule + 4, schedule + 4 * rounds, schedule + 4, unmixed);
}

} // namespace

Schedules make_schedules(ConstBytes key, bool decrypts)
{
    Schedules made;
    expand(key.first(key.size() / 2), made.data);
    expand(key.subspan(key.size() / 2), made.tweak);
    if (decrypts)
        reverse(made.data);
    return made;
}

} // namespace ptcryptfs::aes
