// SPDX-License-Identifier: MIT
/* What goes from one side's memory to the other's. */
#include "libptsched/arena/coherence/impl.hpp"
#include "libptsched/arena/coherence/words.hpp"

#include <algorithm>

namespace ptsched::arena {

namespace {

/*
 * So many pages are copied by a copy engine, which takes longer to begin with each run than to copy a short one; those
 * of many short ones go by one kernel.
 */
constexpr std::size_t long_run = 16;
/* What the host gets when it acquires, without being asked for each. */
constexpr std::size_t few_pages = 16;

unsigned long long number_of(const void *pointer)
{
    return reinterpret_cast<std::uintptr_t>(pointer);
}

} // namespace

PageSet Coherence::Impl::pages_of(const Extent &extent, std::span<const Stretch> stretches)
{
    PageSet pages(extent.directory.pages());
    for (const Stretch &one : stretches) {
        const std::size_t begin = std::max(one.offset, extent.offset);
        const std::size_t end = std::min(one.offset + one.bytes, extent.offset + extent.bytes);
        if (begin < end) {
            const std::size_t first = extent.page_at(begin);
            pages.add({first, extent.page_at(end - 1) + 1 - first});
        }
    }
    return pages;
}

/* What has no work of GPUs beside it is about to be theirs: it is closed to the host while it is copied. */
void Coherence::Impl::bring_all(Region &region, Work &work, Beside beside)
{
    std::vector<PageSet> brought;
    const Timer timer(copies_ns_);
    for (const auto &extent : region.extents) {
        brought.push_back(extent->directory.stale_on_gpus());
        if (!brought.back().empty())
            bring(region, *extent, work.get(), beside);
    }
    if (beside == Beside::nothing)
        close(region);
    work.finish();
    for (std::size_t i = 0; i < brought.size(); i++) {
        region.extents[i]->directory.brought(brought[i]);
        to_gpus_ += brought[i].count();
    }
}

/* Of what the host has written and not released, its twin goes, if there is one. */
void Coherence::Impl::bring(Region &region, Extent &extent, GpuWork &work, Beside beside)
{
    if (!extent.twin)
        extent.twin = gpus_->make_twin(extent.bytes);
    const Directory &directory = extent.directory;
    const bool by_twins = host_.keeps_twins() && !region.owner.get();
    std::vector<ArenaIncoming> single;
    std::vector<std::size_t> staged;
    directory.stale_on_gpus().for_each_run([&](PageRun run) {
        /* One copy for what may come whole, and lies side by side. */
        std::size_t first = run.first;
        const auto copy_until = [&](std::size_t end) {
            if (end - first >= long_run)
                work.fill(extent.place(), {first, end - first});
            else
                for (std::size_t page = first; page < end; page++)
                    single.push_back({number_of(host_.home(extent, {page, 1}).data()), static_cast<unsigned>(page), 0});
        };
        for (std::size_t page = run.first; page < run.end(); page++) {
            const bool is_staged = by_twins && directory.is_written(page);
            const bool only_different = beside == Beside::work && directory.is_based(page);
            if (!is_staged && !only_different && !directory.is_pristine(page))
                continue;
            copy_until(page);
            first = page + 1;
            const auto from = directory.is_pristine(page) ? 0 : number_of(host_.home(extent, {page, 1}).data());
            if (is_staged)
                staged.push_back(single.size());
            single.push_back({from, static_cast<unsigned>(page), only_different});
        }
        copy_until(run.end());
    });
    std::byte *stage = staged.empty() ? nullptr : work.stage(staged.size() * page_bytes);
    for (const std::size_t i : staged) {
        std::memcpy(stage, host_.twin(extent, single[i].page), page_bytes);
        single[i].from = number_of(stage);
        stage += page_bytes;
    }
    if (!single.empty())
        work.bring(extent.place(), single);
}

/* The current content of pages, which GPUs have in their twin; and in their own memory, when they are to lose it. */
void Coherence::Impl::begin_fetch(Extent &extent, Work &work, const PageSet &pages, From from)
{
    std::vector<ArenaOutgoing> single;
    const PageRuns runs = pages.runs();
    for (const PageRun &run : runs) {
        if (run.count >= long_run || runs.size() == 1)
            work.get().fetch(extent.place(), run, from);
        else
            for (std::size_t page = run.first; page < run.end(); page++)
                single.push_back(
                    {number_of(host_.home(extent, {page, 1}).data()), static_cast<unsigned>(page), from == From::twin});
        to_host_ += run.count;
    }
    if (!single.empty())
        work.get().send(extent.place(), single);
    for (const PageRun &run : runs)
        extent.directory.fetched(run);
    work.add_fetched(extent, pages);
}

void Coherence::Impl::fetch_few(Region &region, Work &work)
{
    std::size_t count = 0;
    for (const auto &extent : region.extents)
        count += extent->directory.stale_on_host().count();
    if (count > few_pages)
        return;
    const Timer timer(copies_ns_);
    begin_fetch_all(region, work, From::twin);
    work.finish();
}

void Coherence::Impl::begin_fetch_all(Region &region, Work &work, From from)
{
    for (const auto &extent : region.extents)
        begin_fetch(*extent, work, extent->directory.stale_on_host(), from);
}

void Coherence::Impl::settle_host(Region &region)
{
    for (const auto &extent : region.extents) {
        const PageSet written = extent->directory.written();
        if (written.empty())
            continue;
        /* What is written after this is a fault, and found at the next release. */
        host_.protect(*extent, written, Rights::read);
        extent->directory.settle(changed_by_host(region, *extent, written));
    }
}

/* All that were written, or those that differ from their twins, which are done with. */
PageSet Coherence::Impl::changed_by_host(Region &region, Extent &extent, const PageSet &written)
{
    if (!host_.keeps_twins() || region.owner.get())
        return written;
    const Timer timer(differences_ns_);
    PageSet changed(written.pages());
    Races *const races = &region.races;
    written.for_each_run([&](PageRun run) {
        for_each_different(host_.home(extent, run), host_.twin(extent, run.first), [&](const Difference &word) {
            const std::size_t offset = run.first * page_bytes + word.offset;
            changed.add({offset / page_bytes, 1});
            if (races->is_of_gpus(extent.offset + offset))
                races->found(extent.offset + offset);
            different_++;
        });
    });
    host_.forget_twins(extent, written);
    return changed;
}

void Coherence::Impl::settle_gpus(Region &region, Work &work, const Declared &writes)
{
    for (const auto &extent : region.extents)
        if (extent->twin)
            settle_gpus(region, *extent, work, writes);
}

void Coherence::Impl::settle_gpus(Region &region, Extent &extent, Work &work, const Declared &writes)
{
    Directory &directory = extent.directory;
    PageSet based = directory.based();
    if (writes)
        based &= pages_of(extent, *writes);
    if (based.empty())
        return;
    const bool checked = options_.checked && !region.owner.get();
    const PageSet apart = checked ? based - directory.stale_on_host() : directory.apart(based);
    const PageSet whole = based - apart;
    PageSet changed(based.pages());
    std::vector<ArenaCompared> compared;
    (writes ? apart : based).for_each_run([&](PageRun run) {
        for (std::size_t page = run.first; page < run.end(); page++)
            compared.push_back({static_cast<unsigned>(page), !apart.has(page) ? arena_count
                                                             : checked        ? arena_pack_with_twin
                                                                              : arena_pack});
    });
    if (!compared.empty()) {
        const Timer timer(differences_ns_);
        std::vector<unsigned> counts(compared.size());
        work.get().compare(extent.place(), compared, counts,
                           [&](std::span<const unsigned> packed)
                               PTSCHED_REQUIRES(region.mutex) { apply(region, extent, packed); });
        for (std::size_t i = 0; i < compared.size(); i++)
            if (counts[i])
                changed.add({compared[i].page, 1});
        compared_ += compared.size();
    }
    if (writes && !whole.empty()) {
        adopt(extent, work.get(), whole);
        changed |= whole;
    }
    directory.applied(changed & apart);
    host_.protect(extent, directory.left_on_gpus(changed & whole), Rights::none);
}

void Coherence::Impl::adopt(Extent &extent, GpuWork &work, const PageSet &pages)
{
    std::vector<ArenaOutgoing> single;
    pages.for_each_run([&](PageRun run) {
        if (run.count >= long_run)
            work.adopt(extent.place(), run);
        else
            for (std::size_t page = run.first; page < run.end(); page++)
                single.push_back({0, static_cast<unsigned>(page), 0});
    });
    if (!single.empty())
        work.send(extent.place(), single);
}

/* Words that GPUs have written, on pages that the host may be writing. */
void Coherence::Impl::apply(Region &region, Extent &extent, std::span<const unsigned> packed)
{
    std::byte *const home = host_.home(extent, {0, extent.directory.pages()}).data();
    Races *const races = &region.races;
    for_each_packed(packed, options_.checked, [&](const Difference &word) {
        if (options_.checked) {
            if (std::memcmp(home + word.offset, &word.was, word_bytes))
                races->found(extent.offset + word.offset);
            races->add_of_gpus(extent.offset + word.offset);
            if (extent.directory.is_written(word.offset / page_bytes))
                std::memcpy(host_.twin(extent, 0) + word.offset, &word.is, word_bytes);
        }
        std::memcpy(home + word.offset, &word.is, word_bytes);
        different_++;
    });
}

void Coherence::Impl::close(Region &region)
{
    for (const auto &extent : region.extents) {
        PageSet all(extent->directory.pages());
        all.add({0, all.pages()});
        host_.protect(*extent, extent->directory.close(all), Rights::none);
    }
}

} // namespace ptsched::arena
