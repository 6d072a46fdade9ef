// SPDX-License-Identifier: MIT
/* Known answers, and what keys must do. */
#include "tests/encfs/known_answers.hpp"

namespace test {

namespace {

/* Each sector has a tweak of its own, whoever encrypts how many at once. */
void many_sectors()
{
    Random random(1);
    const Secret key = key_of_hex(ieee_key);
    const std::vector<std::byte> plain = random.bytes(7 * sector_bytes);
    std::vector<std::byte> all = plain, each = plain, same = plain;
    constexpr std::uint64_t first = 0xfffffffffffffffdu;
    engine().encrypt(key, first, all);
    for (std::uint64_t i = 0; i < 7; i++)
        engine().encrypt(key, first + i, Bytes(each).subspan(i * sector_bytes, sector_bytes));
    CHECK(all == each);
    std::vector<std::byte> elsewhere(plain.size());
    engine().encrypt(key, first, plain, elsewhere);
    CHECK(all == elsewhere);
    engine().encrypt(key, 1, same);
    CHECK(all != same);
    engine().decrypt(key, first + 3, Bytes(all).subspan(3 * sector_bytes, 2 * sector_bytes));
    CHECK(
        std::equal(plain.begin() + 3 * sector_bytes, plain.begin() + 5 * sector_bytes, all.begin() + 3 * sector_bytes));
}

/* RFC 7914, section 12, and RFC 5869, A.1. */
void derived_keys()
{
    const auto scrypt = key_of_passphrase(text("password"), text("NaCl"), {1024, 8, 16}, 64);
    CHECK(std::ranges::equal(scrypt.bytes(), bytes_of("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731"
                                                      "622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc"
                                                      "0640")));
    const std::vector<std::byte> purpose = bytes_of("f0f1f2f3f4f5f6f7f8f9"),
                                 salt = bytes_of("000102030405060708090a0b0c");
    const std::vector<std::byte> input(22, std::byte{0x0b});
    const auto hkdf = key_of_key(input, salt, {reinterpret_cast<const char *>(purpose.data()), purpose.size()}, 42);
    CHECK(std::ranges::equal(hkdf.bytes(), bytes_of("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34"
                                                    "007208d5b887185865")));
}

void buffers()
{
    const std::byte *first = nullptr;
    {
        const Buffer one = engine().buffer(2 * sector_bytes), other = engine().buffer(sector_bytes);
        first = one.bytes().data();
        CHECK(other.bytes().data() + sector_bytes <= first || other.bytes().data() >= first + 2 * sector_bytes);
        CHECK_EQ(one.bytes().size(), 2 * sector_bytes);
        CHECK_EQ(other.bytes().size(), sector_bytes);
    }
    const std::byte *const kept = engine().buffer(sector_bytes).bytes().data();
    CHECK(engine().buffer(sector_bytes).bytes().data() == kept);
    CHECK(engine().buffer(300 * sector_bytes).bytes().size() == 300 * sector_bytes);
}

void sealed()
{
    const Secret key = key_of_hex(ieee_key.substr(0, 64));
    const std::vector<std::byte> box = seal(key.bytes(), text("a secret"), text("with"));
    const std::optional<Secret> opened = unseal(key.bytes(), box, text("with"));
    CHECK(opened && std::ranges::equal(opened->bytes(), text("a secret")));
    CHECK(!unseal(key.bytes(), box, text("without")));
    CHECK(!unseal(key_of_hex(ieee_key.substr(64)).bytes(), box, text("with")));
    CHECK(!unseal(key.bytes(), ConstBytes(box).first(27), text("with")));
    for (std::size_t i = 0; i < box.size(); i++) {
        std::vector<std::byte> wrong = box;
        wrong[i] ^= std::byte{1};
        CHECK(!unseal(key.bytes(), wrong, text("with")));
    }
    CHECK(seal(key.bytes(), text("a secret"), text("with")) != box);
}

/* In locked memory: /proc says of which mapping. */
void locked()
{
    const Secret secret(text("it").size());
    std::FILE *const maps = std::fopen("/proc/self/smaps", "r");
    char line[512];
    bool here = false, is_locked = false, is_dumped = true;
    while (maps && std::fgets(line, sizeof line, maps)) {
        std::uintptr_t begin = 0, end = 0;
        const auto at = reinterpret_cast<std::uintptr_t>(secret.bytes().data());
        if (std::sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            here = at >= begin && at < end;
        if (here && std::strncmp(line, "VmFlags:", 8) == 0) {
            is_locked = std::strstr(line, " lo") != nullptr;
            is_dumped = std::strstr(line, " dd") == nullptr;
        }
    }
    if (maps)
        std::fclose(maps);
    CHECK(is_locked && !is_dumped);
}

} // namespace

std::vector<tap::Case> crypt_cases()
{
    return {{"AES-256-XTS: IEEE 1619's vectors", [] { check_known_answers(engine()); }},
            {"sectors by themselves and at once", many_sectors},
            {"keys of passphrases and keys: the RFCs' vectors", derived_keys},
            {"buffers are of one request each", buffers},
            {"what is sealed with a key", sealed},
            {"secrets are in locked memory, which is not dumped", locked}};
}

} // namespace test
