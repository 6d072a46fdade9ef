/* SPDX-License-Identifier: MIT */
/* The order of keys. */
#ifndef PTSCHED_SPMD_PAIRS_ORDER_HPP
#define PTSCHED_SPMD_PAIRS_ORDER_HPP

#include <ptsched/spmd/program.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptsched::spmd {

/* A program's. Thread-safe; the program outlives it. */
class KeyOrder {
public:
    explicit KeyOrder(const Program &program) : program_(program) {}

    /* Who has the smaller one comes first; of those that have the same, before() says it. */
    std::uint64_t prefix(std::string_view key) const;
    /* Total: of two different keys, one is before the other. */
    bool before(std::string_view a, std::string_view b) const;

private:
    const Program &program_;
};

/* The same pairs by their keys, equal ones in the order in which they were. */
Pairs sorted(const KeyOrder &order, const Pairs &pairs);
/* Where each is in that order. */
std::vector<std::uint32_t> sorted_places(const KeyOrder &order, const Column &keys);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_PAIRS_ORDER_HPP */
