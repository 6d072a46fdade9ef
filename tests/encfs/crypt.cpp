// SPDX-License-Identifier: MIT
/* Known answers, and what keys must do. */
#include "tests/encfs/encfs_test.hpp"

#include <charconv>

namespace test {

namespace {

std::vector<std::byte> bytes_of(std::string_view hex)
{
    std::vector<std::byte> bytes(hex.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); i++) {
        unsigned value = 0;
        std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, value, 16);
        bytes[i] = static_cast<std::byte>(value);
    }
    return bytes;
}

Secret key_of_hex(std::string_view hex)
{
    const std::vector<std::byte> bytes = bytes_of(hex);
    return Secret({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

/*
 * IEEE 1619-2007, annex B: vectors 10 and 11, of XTS-AES-256 with data units of 512 bytes. Blocks of a longer unit do
 * not depend on those behind them, so a sector begins with the same.
 */
constexpr std::string_view ieee_key = "2718281828459045235360287471352662497757247093699959574966967627"
                                      "3141592653589793238462643383279502884197169399375105820974944592";
constexpr std::string_view vector_10 =
    "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b5d31e276f8fe4a8d66b317f9ac683f44"
    "680a86ac35adfc3345befecb4bb188fd5776926c49a3095eb108fd1098baec70aaa66999a72a82f27d848b21d4a741b0"
    "c5cd4d5fff9dac89aeba122961d03a757123e9870f8acf1000020887891429ca2a3e7a7d7df7b10355165c8b9a6d0a7d"
    "e8b062c4500dc4cd120c0f7418dae3d0b5781c34803fa75421c790dfe1de1834f280d7667b327f6c8cd7557e12ac3a0f"
    "93ec05c52e0493ef31a12d3d9260f79a289d6a379bc70c50841473d1a8cc81ec583e9645e07b8d9670655ba5bbcfecc6"
    "dc3966380ad8fecb17b6ba02469a020a84e18e8f84252070c13e9f1f289be54fbc481457778f616015e1327a02b140f1"
    "505eb309326d68378f8374595c849d84f4c333ec4423885143cb47bd71c5edae9be69a2ffeceb1bec9de244fbe15992b"
    "11b77c040f12bd8f6a975a44a0f90c29a9abc3d4d893927284c58754cce294529f8614dcd2aba991925fedc4ae74ffac"
    "6e333b93eb4aff0479da9a410e4450e0dd7ae4c6e2910900575da401fc07059f645e8b7e9bfdef33943054ff84011493"
    "c27b3429eaedb4ed5376441a77ed43851ad77f16f541dfd269d50d6a5f14fb0aab1cbb4c1550be97f7ab4066193c4caa"
    "773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151";
constexpr std::string_view vector_11 =
    "77a31251618a15e6b92d1d66dffe7b50b50bad552305ba0217a610688eff7e11e1d0225438e093242d6db274fde801d4"
    "cae06f2092c728b2478559df58e837c2469ee4a4fa794e4bbc7f39bc026e3cb72c33b0888f25b4acf56a2a9804f1ce6d"
    "3d6e1dc6ca181d4b546179d55544aa7760c40d06741539c7e3cd9d2f6650b2013fd0eeb8c2b8e3d8d240ccae2d4c9832"
    "0a7442e1c8d75a42d6e6cfa4c2eca1798d158c7aecdf82490f24bb9b38e108bcda12c3faf9a21141c3613b58367f922a"
    "aa26cd22f23d708dae699ad7cb40a8ad0b6e2784973dcb605684c08b8d6998c69aac049921871ebb65301a4619ca80ec"
    "b485a31d744223ce8ddc2394828d6a80470c092f5ba413c3378fa6054255c6f9df4495862bbb3287681f931b687c888a"
    "bf844dfc8fc28331e579928cd12bd2390ae123cf03818d14dedde5c0c24c8ab018bfca75ca096f2d531f3d1619e785f1"
    "ada437cab92e980558b3dce1474afb75bfedbf8ff54cb2618e0244c9ac0d3c66fb51598cd2db11f9be39791abe447c63"
    "094f7c453b7ff87cb5bb36b7c79efb0872d17058b83b15ab0866ad8a58656c5a7e20dbdf308b2461d97c0ec0024a2715"
    "055249cf3b478ddd4740de654f75ca686e0d7345c69ed50cdc2a8b332b1f8824108ac937eb050585608ee734097fc090"
    "54fbff89eeaeea791f4a7ab1f9868294a4f9e27b42af8100cb9d59cef9645803";

std::vector<std::byte> ieee_text()
{
    std::vector<std::byte> made(sector_bytes);
    for (std::size_t i = 0; i < made.size(); i++)
        made[i] = static_cast<std::byte>(i);
    return made;
}

void known_answers()
{
    const Secret key = key_of_hex(ieee_key);
    for (const auto &[number, hex] :
         {std::pair(std::uint64_t{0xff}, vector_10), std::pair(std::uint64_t{0xffff}, vector_11)}) {
        const std::vector<std::byte> wanted = bytes_of(hex);
        std::vector<std::byte> sector = ieee_text();
        engine().encrypt(key, number, sector);
        CHECK_EQ(wanted.size(), std::size_t{512});
        CHECK(std::equal(wanted.begin(), wanted.end(), sector.begin()));
        engine().decrypt(key, number, sector);
        CHECK(sector == ieee_text());
    }
}

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
    return {{"AES-256-XTS: IEEE 1619's vectors", known_answers},
            {"sectors by themselves and at once", many_sectors},
            {"keys of passphrases and keys: the RFCs' vectors", derived_keys},
            {"what is sealed with a key", sealed},
            {"secrets are in locked memory, which is not dumped", locked}};
}

} // namespace test
