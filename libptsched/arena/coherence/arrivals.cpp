// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/arrivals.hpp"

#include <algorithm>
#include <cstdio>

namespace ptsched::arena {

namespace {

/* So that the bus has something while what has come is opened. */
constexpr std::size_t most_in_flight = 4;
/* Of the processor: to open a part of one would make it small ones. */
constexpr std::size_t large_page = (2 << 20) / page_bytes;
/* Threads that go through pages, each at a place of its own. */
constexpr std::size_t most_next = 64;

} // namespace

void Arrivals::begin(Region &region, std::unique_ptr<Work> before, Turn turn)
{
    for (const auto &extent : region.extents) {
        const PageSet coming = extent->directory.stale_on_host(), expected = extent->directory.expected(coming);
        host_.protect(*extent, extent->directory.grant(expected - coming, false), Rights::read);
        extent->opened_later = expected & coming;
    }
    region.arrival = std::make_unique<Arrival>(Arrival{std::move(before)});
    {
        const Guard guard(mutex_);
        coming_.push_back({&region, std::move(turn)});
    }
}

Arrivals::Pause::Pause(Arrivals &arrivals, Region &region) : arrivals_(arrivals), region_(region)
{
    Lock lock(arrivals_.mutex_);
    region_.pauses++;
    was_coming_ = arrivals_.is_coming(region_);
    while (region_.held)
        arrivals_.changed_.wait(lock);
}

/* Who waited for it, or for what comes from now on, is seen to. */
Arrivals::Pause::~Pause()
{
    bool is_coming;
    {
        const Guard guard(arrivals_.mutex_);
        region_.pauses--;
        is_coming = arrivals_.is_coming(region_);
    }
    if (was_coming_ || is_coming)
        arrivals_.host_.wake();
}

bool Arrivals::is_coming(const Region &region) const
{
    return std::any_of(coming_.begin(), coming_.end(), [&](const Coming &one) { return one.region == &region; });
}

void Arrivals::end(Region &region)
{
    if (!region.arrival)
        return;
    const std::unique_ptr<Arrival> arrival = std::move(region.arrival);
    forget(region);
    arrival->before->finish();
}

void Arrivals::forget(Region &region)
{
    region.arrival.reset();
    const Guard guard(mutex_);
    std::erase_if(coming_, [&](const Coming &coming) { return coming.region == &region; });
}

bool Arrivals::take(HostSide::Asked &asked)
{
    const Extent &extent = *asked.fault.extent;
    const Guard guard(extent.region.mutex);
    if (!extent.region.arrival || extent.directory.is_on_host(asked.fault.page))
        return false;
    waiting_.push_back(&asked);
    return true;
}

HostSide::Asked *Arrivals::take_back()
{
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), [](const HostSide::Asked *asked) {
        const Extent &extent = *asked->fault.extent;
        const Guard guard(extent.region.mutex);
        return !extent.region.arrival || extent.directory.is_on_host(asked->fault.page);
    });
    if (found == waiting_.end())
        return nullptr;
    HostSide::Asked *const asked = *found;
    waiting_.erase(found);
    return asked;
}

bool Arrivals::go_on()
{
    if (flights_.size() < most_in_flight)
        if (const std::optional<Coming> held = hold_one()) {
            if (begin_one(*held->region, held->turn))
                return true;
            let_go(*held->region);
        }
    if (flights_.empty())
        return false;
    land();
    return true;
}

/* One for which somebody waits, or the first. */
std::optional<Arrivals::Coming> Arrivals::hold_one()
{
    const Guard guard(mutex_);
    const Coming *chosen = nullptr;
    for (const Coming &coming : coming_) {
        if (coming.region->pauses)
            continue;
        const bool is_waited_for = std::any_of(waiting_.begin(), waiting_.end(), [&](const HostSide::Asked *asked) {
            return &asked->fault.extent->region == coming.region;
        });
        if (!chosen || is_waited_for)
            chosen = &coming;
        if (is_waited_for)
            break;
    }
    if (!chosen)
        return {};
    chosen->region->held++;
    return *chosen;
}

Turn Arrivals::turn() const
{
    const Guard guard(mutex_);
    return coming_.empty() ? nullptr : coming_.front().turn;
}

void Arrivals::let_go(Region &region)
{
    const Guard guard(mutex_);
    region.held--;
    changed_.notify_all();
}

/* False: it is no longer held for anything; if nothing of it is in flight, all has come. */
bool Arrivals::begin_one(Region &region, const Turn &turn)
{
    const Guard guard(region.mutex);
    if (!region.arrival)
        return false;
    try {
        const auto [extent, run] = next_of(region);
        if (run.count) {
            auto work = std::make_unique<Work>(gpus_, make_turn_, turn);
            work->get().fetch(extent->place(), run, GpuWork::From::current);
            flights_.push_back({extent, run, std::move(work)});
            return true;
        }
        if (is_in_flight(region))
            return false;
        region.arrival->before->finish();
        forget(region);
    } catch (const std::exception &error) {
        fail(region, error);
    }
    return false;
}

void Arrivals::land()
{
    const Flight flight = std::move(flights_.front());
    flights_.pop_front();
    Extent &extent = *flight.extent;
    Region &region = extent.region;
    std::exception_ptr failure;
    try {
        flight.work->finish();
    } catch (...) {
        failure = std::current_exception();
    }
    {
        const Guard guard(extent.region.mutex);
        try {
            if (failure)
                std::rethrow_exception(failure);
            landed(extent, flight.run);
        } catch (const std::exception &error) {
            if (extent.region.arrival)
                fail(extent.region, error);
        }
    }
    let_go(region);
}

void Arrivals::landed(Extent &extent, PageRun run)
{
    extent.directory.fetched(run);
    pages_.fetch_add(run.count, std::memory_order_relaxed);
    PageSet come(extent.directory.pages());
    come.add(run);
    host_.protect(extent, extent.directory.grant(come & extent.opened_later, false), Rights::read);
    std::erase_if(waiting_, [&](HostSide::Asked *asked) PTSCHED_REQUIRES(extent.region.mutex) {
        const HostSide::Fault &fault = asked->fault;
        if (fault.extent != &extent || !come.has(fault.page))
            return false;
        host_.open(extent, fault.page, fault.is_write);
        host_.answer(*asked, true);
        return true;
    });
}

/* Who touches what has not come is told once more. */
void Arrivals::fail(Region &region, const std::exception &error)
{
    std::fprintf(stderr, "ptsched: what GPUs have of an arena that the host owns does not come: %s\n", error.what());
    forget(region);
}

bool Arrivals::is_in_flight(const Region &region) const
{
    return std::any_of(flights_.begin(), flights_.end(),
                       [&](const Flight &flight) { return &flight.extent->region == &region; });
}

/* The first pages from that one on that are to come and are not on their way, up to the end of a large one. */
PageRun Arrivals::free_at(const Extent &extent, std::size_t page) const
{
    const std::size_t of_window = extent.offset / page_bytes;
    PageRun run = extent.directory.stale_from(page, large_page);
    for (const Flight &flight : flights_) {
        if (flight.extent != &extent || flight.run.first >= run.end() || run.first >= flight.run.end())
            continue;
        if (flight.run.first <= run.first)
            return free_at(extent, flight.run.end());
        run.count = flight.run.first - run.first;
    }
    run.count = std::min(run.count, large_page - (of_window + run.first) % large_page);
    return run;
}

std::pair<Extent *, PageRun> Arrivals::next_of(Region &region)
{
    std::deque<Arrival::Next> &next = region.arrival->next;
    const auto is_at = [&](const Arrival::Next &place, PageRun &run) {
        run = free_at(*place.extent, place.page);
        if (!run.count || run.first != place.page)
            return false;
        next.push_back({place.extent, run.end()});
        if (next.size() > most_next)
            next.pop_front();
        return true;
    };
    PageRun run{0, 0};
    for (const HostSide::Asked *asked : waiting_)
        if (&asked->fault.extent->region == &region && is_at({asked->fault.extent, asked->fault.page}, run))
            return {asked->fault.extent, run};
    while (!next.empty()) {
        const Arrival::Next first = next.front();
        next.pop_front();
        if (is_at(first, run))
            return {first.extent, run};
    }
    for (const auto &extent : region.extents)
        if (run = free_at(*extent, 0); run.count)
            return {extent.get(), run};
    return {nullptr, {0, 0}};
}

} // namespace ptsched::arena
