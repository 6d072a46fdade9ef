// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/directory.hpp"

#include "libptsched/arena/coherence/coherence.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::arena {

/* The one that ended there; of none, all of them. */
std::size_t Streaks::find(std::size_t end) const
{
    std::size_t i = 0;
    while (i < count && (!streaks_[i].length || streaks_[i].end != end))
        i++;
    return i;
}

std::size_t Streaks::length_at(std::size_t page) const
{
    const std::size_t found = find(page);
    return found < count ? std::min(2 * streaks_[found].length, most) : 1;
}

void Streaks::got(PageRun run)
{
    std::size_t at = find(run.first);
    const std::size_t before = at < count ? streaks_[at].length : 0;
    if (at == count)
        at = std::exchange(oldest_, (oldest_ + 1) % count);
    /* What is cut short at other pages goes on behind them. */
    streaks_[at] = {run.end(), std::max(run.count, before)};
}

Directory::Directory(std::size_t pages, std::size_t first)
    : first_(first), on_host_(pages), on_gpus_(pages), pristine_(pages), based_(pages), readable_(pages),
      writable_(pages), was_readable_(pages), was_writable_(pages), written_twice_(pages), versions_(pages)
{
    on_host_.add({0, pages});
    pristine_.add({0, pages});
}

Party Directory::home(std::size_t page) const
{
    return on_host_.has(page) ? Party::host : Party::gpus;
}

Rights Directory::rights(std::size_t page) const
{
    return writable_.has(page) ? Rights::write : readable_.has(page) ? Rights::read : Rights::none;
}

PageSet Directory::with(Rights rights) const
{
    return rights == Rights::none ? ~readable_ : rights == Rights::read ? readable_ - writable_ : writable_;
}

PageRun Directory::stale_from(std::size_t page, std::size_t most) const
{
    const std::size_t first = on_host_.next_missing(page);
    return {first, std::min({on_host_.next(first), first + most, pages()}) - first};
}

PageRun Directory::to_fetch(std::size_t page) const
{
    const std::size_t end = std::min({on_host_.next(page), page + fetches_.length_at(page), pages()});
    return {page, end - page};
}

void Directory::fetched(PageRun run)
{
    on_host_.add(run);
    fetches_.got(run);
}

/* Long ones end where a large page of the processor does, of which a part would make it small ones. */
std::size_t Directory::end_of_streak(std::size_t page, bool is_write) const
{
    constexpr std::size_t large_page = (2 << 20) / page_bytes, long_streak = large_page / 4;
    const std::size_t length = (is_write ? writes_ : reads_).length_at(page);
    const std::size_t beyond = (first_ + page + length) % large_page;
    return page + length + (length >= long_streak && beyond ? large_page - beyond : 0);
}

/* Where the host has the habit of writing, all of it, as many threads may do so; else as far as streaks tell. */
PageRun Directory::to_grant(std::size_t page, const PageSet &granted, bool is_write)
{
    const std::size_t most = std::min(granted.next(page), on_host_.next_missing(page));
    if (!is_write || is_seen_ || !written_twice_.has(page))
        return {page, std::min(most, end_of_streak(page, is_write)) - page};
    uses_habit_ = true;
    std::size_t first = page;
    while (first && written_twice_.has(first - 1) && on_host_.has(first - 1) && !granted.has(first - 1))
        first--;
    return {first, std::max(page + 1, std::min(most, written_twice_.next_missing(page))) - first};
}

PageRun Directory::grant(std::size_t page, bool is_write)
{
    PageSet &granted = is_write ? writable_ : readable_;
    if (granted.has(page) || !on_host_.has(page))
        return {page, 0};
    const PageRun run = to_grant(page, granted, is_write);
    readable_.add(run);
    if (is_write) {
        writable_.add(run);
        pristine_.remove(run);
    }
    (is_write ? writes_ : reads_).got(run);
    return run;
}

PageSet Directory::grant(const PageSet &which, bool is_write)
{
    PageSet closed = which - (is_write ? writable_ : readable_);
    readable_ |= closed;
    if (is_write) {
        writable_ |= closed;
        pristine_ -= closed;
    }
    return closed;
}

void Directory::remember()
{
    was_readable_ = readable_;
    /* Once is no habit: data is made before it is used. */
    if (!uses_habit_) {
        written_twice_ = was_writable_ & writable_;
        was_writable_ = writable_;
    }
    uses_habit_ = false;
}

/* Opening pages, and closing them again, takes longer than what is seldom touched is worth. */
bool Directory::expects_reads()
{
    constexpr unsigned fewest = 4, most = 64;
    if (is_seen_) {
        const bool uses_most = 2 * was_readable_.count() >= pages();
        next_expected_ = uses_most ? std::clamp(2 * next_expected_, fewest, most) : 0;
        expected_ = next_expected_;
    }
    is_seen_ = !expected_;
    if (expected_)
        expected_--;
    return !is_seen_;
}

PageSet Directory::expected(const PageSet &coming)
{
    constexpr std::size_t long_run = 16;
    PageSet expected(pages());
    if (!expects_reads())
        return expected;
    ((on_host_ | coming) & was_readable_).for_each_run([&](PageRun run) {
        if (run.count >= long_run)
            expected.add(run);
    });
    return expected;
}

PageSet Directory::settle(const PageSet &changed)
{
    count_up(changed);
    on_gpus_ -= changed;
    PageSet were = writable_;
    writable_ -= were;
    return were;
}

PageSet Directory::close(const PageSet &which)
{
    PageSet were = readable_ & which;
    readable_ -= were;
    return were;
}

void Directory::brought(const PageSet &to_gpus)
{
    on_gpus_ |= to_gpus;
    based_ |= to_gpus;
}

void Directory::applied(const PageSet &changed)
{
    count_up(changed);
    pristine_ -= changed;
}

PageSet Directory::left_on_gpus(const PageSet &changed)
{
    count_up(changed);
    pristine_ -= changed;
    on_host_ -= changed;
    return close(changed);
}

void Directory::count_up(const PageSet &changed)
{
    changed.for_each_run([&](PageRun run) {
        for (std::size_t page = run.first; page < run.end(); page++)
            versions_[page]++;
    });
}

} // namespace ptsched::arena
