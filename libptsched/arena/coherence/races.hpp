/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_COHERENCE_RACES_HPP
#define PTSCHED_ARENA_COHERENCE_RACES_HPP

#include <bitset>
#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptsched::arena {

/* Words that both sides have written between two synchronisations, by their offsets in the window. Not thread-safe. */
class Races {
public:
    /* GPUs have written it, and the host has not acquired since. */
    void add_of_gpus(std::size_t offset);
    bool is_of_gpus(std::size_t offset) const;
    /* The host has acquired. */
    void forget_gpus() { of_gpus_.clear(); }

    void found(std::size_t offset);
    bool empty() const { return !count_; }
    /* Says what was found, and forgets it. @begin: the address of offset 0. */
    std::string take(const std::byte *begin, const std::function<std::string(std::size_t)> &describe);

private:
    static constexpr std::size_t most = 8, bits = 16384;

    std::unordered_map<std::size_t, std::bitset<bits>> of_gpus_;
    std::vector<std::size_t> first_;
    std::size_t count_ = 0;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_RACES_HPP */
