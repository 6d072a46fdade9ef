/* SPDX-License-Identifier: MIT */
#ifndef ENCFS_KNOWN_ANSWERS_HPP
#define ENCFS_KNOWN_ANSWERS_HPP

#include "tests/encfs/encfs_test.hpp"

namespace test {

std::vector<std::byte> bytes_of(std::string_view hex);
Secret key_of_hex(std::string_view hex);

/* IEEE 1619-2007, annex B: the key of vectors 10 and 11, which are of XTS-AES-256. */
constexpr std::string_view ieee_key = "2718281828459045235360287471352662497757247093699959574966967627"
                                      "3141592653589793238462643383279502884197169399375105820974944592";
void check_known_answers(Engine &engine);

} // namespace test

#endif /* ENCFS_KNOWN_ANSWERS_HPP */
