// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/page_set.hpp"

#include <algorithm>
#include <bit>

namespace ptsched::arena {

PageSet &PageSet::operator|=(const PageSet &other)
{
    for (std::size_t i = 0; i < words_.size(); i++)
        words_[i] |= other.words_[i];
    return *this;
}

PageSet &PageSet::operator&=(const PageSet &other)
{
    for (std::size_t i = 0; i < words_.size(); i++)
        words_[i] &= other.words_[i];
    return *this;
}

PageSet &PageSet::operator-=(const PageSet &other)
{
    for (std::size_t i = 0; i < words_.size(); i++)
        words_[i] &= ~other.words_[i];
    return *this;
}

PageSet PageSet::operator~() const
{
    PageSet all(pages_);
    all.add({0, pages_});
    return all -= *this;
}

bool PageSet::empty() const
{
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return !word; });
}

std::size_t PageSet::count() const
{
    std::size_t count = 0;
    for (const std::uint64_t word : words_)
        count += static_cast<std::size_t>(std::popcount(word));
    return count;
}

PageRuns PageSet::runs() const
{
    PageRuns found;
    for_each_run([&](PageRun run) { found.push_back(run); });
    return found;
}

void PageSet::change(PageRun run, bool to)
{
    for (std::size_t page = run.first; page < run.end();) {
        const std::size_t bit = page % 64, count = std::min(64 - bit, run.end() - page);
        const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << bit;
        std::uint64_t &word = words_[page / 64];
        word = to ? word | mask : word & ~mask;
        page += count;
    }
}

std::size_t PageSet::find(std::size_t from, std::uint64_t inverted) const
{
    for (std::size_t page = from; page < pages_;) {
        const std::uint64_t word = (words_[page / 64] ^ inverted) >> page % 64;
        if (word)
            return std::min(pages_, page + static_cast<std::size_t>(std::countr_zero(word)));
        page += 64 - page % 64;
    }
    return pages_;
}

} // namespace ptsched::arena
