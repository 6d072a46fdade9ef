/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_COHERENCE_PAGE_SET_HPP
#define PTSCHED_ARENA_COHERENCE_PAGE_SET_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptsched::arena {

/* Pages side by side. */
struct PageRun {
    std::size_t first, count;

    std::size_t end() const { return first + count; }
    bool operator==(const PageRun &) const = default;
};
using PageRuns = std::vector<PageRun>;

/* Of so many pages. Only what makes one allocates memory. */
class PageSet {
public:
    explicit PageSet(std::size_t pages) : pages_(pages), words_((pages + 63) / 64) {}

    std::size_t pages() const { return pages_; }
    bool has(std::size_t page) const { return words_[page / 64] >> page % 64 & 1; }
    void add(PageRun run) { change(run, true); }
    void remove(PageRun run) { change(run, false); }
    PageSet &operator|=(const PageSet &other);
    PageSet &operator&=(const PageSet &other);
    PageSet &operator-=(const PageSet &other);
    friend PageSet operator|(PageSet one, const PageSet &other) { return one |= other; }
    friend PageSet operator&(PageSet one, const PageSet &other) { return one &= other; }
    friend PageSet operator-(PageSet one, const PageSet &other) { return one -= other; }
    PageSet operator~() const;
    bool operator==(const PageSet &) const = default;

    bool empty() const;
    std::size_t count() const;
    /* The first page from @from on that is in it, or that is not; pages() if there is none. */
    std::size_t next(std::size_t from) const { return find(from, 0); }
    std::size_t next_missing(std::size_t from) const { return find(from, ~std::uint64_t{0}); }
    /* In order; none touches the next. */
    template <typename Function> void for_each_run(Function function) const
    {
        for (std::size_t first = next(0); first < pages_;) {
            const std::size_t end = next_missing(first);
            function(PageRun{first, end - first});
            first = next(end);
        }
    }
    PageRuns runs() const;

private:
    void change(PageRun run, bool to);
    std::size_t find(std::size_t from, std::uint64_t inverted) const;

    std::size_t pages_;
    std::vector<std::uint64_t> words_; /* behind the last page: zeros */
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_PAGE_SET_HPP */
