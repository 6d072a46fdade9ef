/* SPDX-License-Identifier: MIT */
/* What host and device know of AES-256 (FIPS 197), columns as words whose lowest byte is the first. */
#ifndef PTCRYPTFS_GPU_AES_H
#define PTCRYPTFS_GPU_AES_H

#include <cstdint>

namespace ptcryptfs::aes {

constexpr unsigned rounds = 14, key_words = 8, schedule_words = 4 * (rounds + 1);

/* For XTS with a key of 64 bytes: those for data in one of the directions, and for tweaks. */
struct Schedules {
    std::uint32_t data[schedule_words], tweak[schedule_words];
};

/* What the kernel is given, as its second parameter. */
struct Request {
    Schedules schedules;
    std::uint64_t first; /* number of the first sector */
    std::uint32_t decrypts;
};

constexpr std::uint8_t rotated(std::uint8_t byte, unsigned bits)
{
    return static_cast<std::uint8_t>(byte << bits | byte >> (8 - bits));
}

/* Times x in GF(2^8). */
constexpr std::uint8_t doubled(std::uint8_t byte)
{
    return static_cast<std::uint8_t>(byte << 1 ^ (byte & 0x80 ? 0x1b : 0));
}

constexpr std::uint8_t product(std::uint8_t a, std::uint8_t b)
{
    std::uint8_t sum = 0;
    for (; b; b >>= 1, a = doubled(a))
        if (b & 1)
            sum ^= a;
    return sum;
}

constexpr std::uint32_t column(std::uint8_t byte, std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d)
{
    return product(byte, a) | product(byte, b) << 8 | product(byte, c) << 16 |
           static_cast<std::uint32_t>(product(byte, d)) << 24;
}

/* A round's work on one byte, as the column that comes of it if it is the first of its column. */
struct Tables {
    std::uint8_t box[256], inverse[256];
    std::uint32_t encrypt[256], decrypt[256];
};

/* Powers of 3 go through all bytes but 0, those of its inverse beside them. */
constexpr Tables make_tables()
{
    Tables made{};
    std::uint8_t power = 1, inverse = 1;
    do {
        power = static_cast<std::uint8_t>(power ^ doubled(power));
        inverse = product(inverse, 0xf6);
        made.box[power] = static_cast<std::uint8_t>(0x63 ^ inverse ^ rotated(inverse, 1) ^ rotated(inverse, 2) ^
                                                    rotated(inverse, 3) ^ rotated(inverse, 4));
    } while (power != 1);
    made.box[0] = 0x63;
    for (unsigned i = 0; i < 256; i++) {
        made.inverse[made.box[i]] = static_cast<std::uint8_t>(i);
        made.encrypt[i] = column(made.box[i], 2, 1, 1, 3);
    }
    for (unsigned i = 0; i < 256; i++)
        made.decrypt[i] = column(made.inverse[i], 14, 9, 13, 11);
    return made;
}

} // namespace ptcryptfs::aes

#endif /* PTCRYPTFS_GPU_AES_H */
