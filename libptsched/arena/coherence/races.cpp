// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/races.hpp"

#include "libptsched/arena/coherence/words.hpp"

#include <cinttypes>
#include <cstdio>

namespace ptsched::arena {

void Races::add_of_gpus(std::size_t offset)
{
    of_gpus_[offset / word_bytes / bits].set(offset / word_bytes % bits);
}

bool Races::is_of_gpus(std::size_t offset) const
{
    const auto found = of_gpus_.find(offset / word_bytes / bits);
    return found != of_gpus_.end() && found->second.test(offset / word_bytes % bits);
}

void Races::found(std::size_t offset)
{
    count_++;
    if (first_.size() < most)
        first_.push_back(offset);
}

std::string Races::take(const std::byte *begin, const std::function<std::string(std::size_t)> &describe)
{
    std::string text = "the host and a GPU have both written, between two synchronisations of their arena, the 4 bytes";
    for (const std::size_t offset : first_) {
        char address[32];
        std::snprintf(address, sizeof(address), "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(begin + offset));
        const std::string what = describe ? describe(offset) : "";
        text += (offset == first_.front() ? " at " : ", at ") + std::string(address);
        text += what.empty() ? "" : " (" + what + ")";
    }
    if (count_ > first_.size())
        text += ", and " + std::to_string(count_ - first_.size()) + " more";
    text += ": one of them is to release, and the other to acquire, in between; what they write at the same time is to "
            "be 4 bytes apart";
    first_.clear();
    count_ = 0;
    return text;
}

} // namespace ptsched::arena
