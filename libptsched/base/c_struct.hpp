/* SPDX-License-Identifier: MIT */
/* Structures of the C interfaces from programs that were built with an older header, or a newer one. */
#ifndef PTSCHED_BASE_C_STRUCT_HPP
#define PTSCHED_BASE_C_STRUCT_HPP

#include "libptsched/base/c_error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace ptsched {

template <typename Struct> void check_size(const Struct &given, std::size_t smallest, const std::string &what)
{
    static_assert(std::is_trivially_copyable_v<Struct> && offsetof(Struct, size) == 0);
    if (given.size < smallest)
        throw Error(what + " says that its size is " + std::to_string(given.size) + ", where sizeof(struct " + what +
                    ") is to be, which is " + std::to_string(sizeof(Struct)));
}

/*
 * As this version has it. @smallest: the size that it had in the first version; @what: its name. Throws Error for a
 * size that it cannot have, and for members that are set and not known.
 */
template <typename Struct> Struct as_known(const Struct &given, std::size_t smallest, const std::string &what)
{
    const auto *bytes = reinterpret_cast<const char *>(&given);
    Struct known{};

    check_size(given, smallest, what);
    if (given.size > sizeof(Struct) &&
        std::any_of(bytes + sizeof(Struct), bytes + given.size, [](char byte) { return byte != 0; }))
        throw Error(what + " of " + std::to_string(given.size) + " bytes has members that this library, which knows " +
                    std::to_string(sizeof(Struct)) + ", does not know: a newer one would do");
    std::memcpy(&known, &given, std::min(given.size, sizeof(Struct)));
    return known;
}

/* The other way round: the program gets what it knows of @known; what only it knows is 0. Throws likewise. */
template <typename Struct>
void give_known(Struct &given, const Struct &known, std::size_t smallest, const std::string &what)
{
    check_size(given, smallest, what);
    const std::size_t size = given.size;
    std::memset(reinterpret_cast<char *>(&given), 0, size);
    std::memcpy(&given, &known, std::min(size, sizeof(Struct)));
    given.size = size;
}

/* Of an array whose elements have the size that the first has, @use for each as this version has it. */
template <typename Struct, typename Use>
void for_each_known(const Struct *array, std::size_t count, std::size_t smallest, const std::string &what,
                    const char *name, Use use)
{
    const auto *at = reinterpret_cast<const char *>(array);
    for (std::size_t i = 0; i < count; i++) {
        const auto &given = needed(reinterpret_cast<const Struct *>(at), name);
        use(as_known(given, smallest, what));
        at += given.size;
    }
}

/* @array: the name of the array, and @each that of an element, for errors. */
inline std::vector<std::string> strings_of(const char *const *strings, std::size_t count, const char *array,
                                           const char *each)
{
    std::vector<std::string> copies;
    for (std::size_t i = 0; i < count; i++)
        copies.emplace_back(&needed((&needed(strings, array))[i], each));
    return copies;
}

} // namespace ptsched

#endif /* PTSCHED_BASE_C_STRUCT_HPP */
