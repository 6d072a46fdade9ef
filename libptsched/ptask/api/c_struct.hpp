/* SPDX-License-Identifier: MIT */
/* Structures of the C interface from programs that were built with an older header, or a newer one. */
#ifndef PTSCHED_PTASK_API_C_STRUCT_HPP
#define PTSCHED_PTASK_API_C_STRUCT_HPP

#include "libptsched/ptask/api/c_error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace ptsched::ptask {

/*
 * As this version has it. @smallest: the size that it had in the first version; @what: its name. Throws Error for a
 * size that it cannot have, and for members that are set and not known.
 */
template <typename Struct> Struct as_known(const Struct &given, std::size_t smallest, const std::string &what)
{
    static_assert(std::is_trivially_copyable_v<Struct> && offsetof(Struct, size) == 0);
    const auto *bytes = reinterpret_cast<const char *>(&given);
    Struct known{};

    if (given.size < smallest)
        throw Error(what + " says that its size is " + std::to_string(given.size) + ", where sizeof(struct " + what +
                    ") is to be, which is " + std::to_string(sizeof(Struct)));
    if (given.size > sizeof(Struct) &&
        std::any_of(bytes + sizeof(Struct), bytes + given.size, [](char byte) { return byte != 0; }))
        throw Error(what + " of " + std::to_string(given.size) + " bytes has members that this libptask, which knows " +
                    std::to_string(sizeof(Struct)) + ", does not know: a newer one would do");
    std::memcpy(&known, &given, std::min(given.size, sizeof(Struct)));
    return known;
}

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_API_C_STRUCT_HPP */
