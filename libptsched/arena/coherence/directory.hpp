/* SPDX-License-Identifier: MIT */
/*
 * What is known of pages that lie side by side: who has the current content, how often it was changed, and what the
 * host may do with it. Decides what is to be done, and does nothing: neither memory nor GPUs are known here.
 */
#ifndef PTSCHED_ARENA_COHERENCE_DIRECTORY_HPP
#define PTSCHED_ARENA_COHERENCE_DIRECTORY_HPP

#include "libptsched/arena/coherence/page_set.hpp"
#include "libptsched/arena/window/memory.hpp"

#include <array>

namespace ptsched::arena {

enum class Party;

/*
 * Where page after page is touched, more and more of them are got at once: to be told of each costs microseconds. Each
 * of several threads may do so at a place of its own.
 */
class Streaks {
public:
    static constexpr std::size_t most = 64;

    /* How many pages from this one on. */
    std::size_t length_at(std::size_t page) const;
    void got(PageRun run);

private:
    struct Streak {
        std::size_t end = 0, length = 0;
    };
    static constexpr std::size_t count = 32;

    std::size_t find(std::size_t end) const;

    std::array<Streak, count> streaks_{};
    std::size_t oldest_ = 0;
};

/* Not thread-safe. What is called in faults of the host allocates nothing: to_fetch(), fetched(), grant(). */
class Directory {
public:
    /* All of them zero on the host, and closed to it. @first: the first one's number in the window. */
    explicit Directory(std::size_t pages, std::size_t first = 0);

    std::size_t pages() const { return on_host_.pages(); }
    /* Where the current content is; the host's comes first. */
    Party home(std::size_t page) const;
    /* How often it has been changed, by whoever released. */
    std::uint32_t version(std::size_t page) const { return versions_[page]; }
    Rights rights(std::size_t page) const;
    PageSet with(Rights rights) const;
    bool is_on_host(std::size_t page) const { return on_host_.has(page); }
    bool is_on_gpus(std::size_t page) const { return on_gpus_.has(page); }
    /* All zero, since nobody has written. */
    bool is_pristine(std::size_t page) const { return pristine_.has(page); }
    /* The GPUs' memory and its twin have something: what was current, and differs from it where GPUs have written. */
    bool is_based(std::size_t page) const { return based_.has(page); }
    /* Whether the host may have written since it released. */
    bool is_written(std::size_t page) const { return writable_.has(page); }

    /* The first pages from that one on that are not on the host, so many at most; none: of no pages. */
    PageRun stale_from(std::size_t page, std::size_t most) const;
    /* What is to come from GPUs for an access to that page; of no pages: nothing. */
    PageRun to_fetch(std::size_t page) const;
    void fetched(PageRun run);
    /* It has not come. */
    void lost(const PageSet &fetched) { on_host_ -= fetched; }
    /* What may be opened for an access to that page, which is on the host; of no pages: it may be done. */
    PageRun grant(std::size_t page, bool is_write);
    /* Opens pages that are on the host; returns those that were not. */
    PageSet grant(const PageSet &which, bool is_write);

    /* By the host, perhaps, since it released. */
    PageSet written() const { return writable_; }
    /* The host has released: @changed, of those that were written. Returns these, which now may only be read. */
    PageSet settle(const PageSet &changed);
    /* Closed to the host from now on; returns those that were not. */
    PageSet close(const PageSet &which);

    /* GPUs get it: what the host has used is likely to be what it uses when it has got it back. */
    void remember();
    /*
     * Of these pages, on the host, what is worth opening before it is touched: long runs, where faults have shown that
     * it uses most of what there is. Returns those that the host may read from then on. Of what is opened nobody knows
     * whether it is used: all stays closed now and then, to see.
     */
    PageSet open_expected() { return grant(expected(PageSet(pages())), false); }
    /* What that would return if @coming were on the host, too; nothing is opened. */
    PageSet expected(const PageSet &coming);

    PageSet stale_on_host() const { return ~on_host_; }
    PageSet stale_on_gpus() const { return ~on_gpus_; }
    PageSet based() const { return based_; }
    void brought(const PageSet &to_gpus);
    /*
     * Of pages that GPUs may have written, those of which the host has to get the single words, and the others, which
     * can be left where they are: the host has not written there, and has nothing that GPUs have not.
     */
    PageSet apart(const PageSet &based) const { return (on_host_ & based) & (writable_ | ~on_gpus_); }
    /* GPUs have released: what they have changed is on the host, too. */
    void applied(const PageSet &changed);
    /* The same where it is not. Returns what is to be closed to the host. */
    PageSet left_on_gpus(const PageSet &changed);

private:
    bool expects_reads();
    std::size_t end_of_streak(std::size_t page, bool is_write) const;
    PageRun to_grant(std::size_t page, const PageSet &granted, bool is_write);
    void count_up(const PageSet &changed);

    const std::size_t first_;
    PageSet on_host_, on_gpus_, pristine_, based_;
    PageSet readable_, writable_;
    PageSet was_readable_, was_writable_, written_twice_; /* see remember() */
    bool uses_habit_ = false;                             /* pages may be writable that nobody has touched */
    bool is_seen_ = true;                                 /* nothing was opened that nobody has touched */
    /* So often more are pages opened; and how often it was after the last look. */
    unsigned expected_ = 0, next_expected_ = 0;
    std::vector<std::uint32_t> versions_;
    Streaks fetches_, reads_, writes_;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_DIRECTORY_HPP */
