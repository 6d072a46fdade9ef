// SPDX-License-Identifier: MIT
/* What a hand-over takes, against copies of just what was changed. */
#include "tests/bench/arena/bench.hpp"

namespace ptsched::bench_arena {

namespace {

using arena::Party;

/* One of a hundred, not side by side. */
std::vector<unsigned> one_percent(std::size_t pages)
{
    std::vector<unsigned> which;
    for (std::size_t page = 3; page < pages; page += 100)
        which.push_back(static_cast<unsigned>(page));
    return which;
}

std::vector<unsigned> every(std::size_t pages)
{
    std::vector<unsigned> which;
    for (std::size_t page = 0; page < pages; page++)
        which.push_back(static_cast<unsigned>(page));
    return which;
}

/* There, and back with what was changed looked for, or declared. */
struct Times {
    std::vector<double> to_gpus, to_host, declared, by_hand_to_gpus, by_hand_to_host;
};

/* By hand: those pages, or all of them if there are as many as there are. */
template <typename Copy> double by_hand(Bench &bench, const std::vector<unsigned> &which, Copy copy)
{
    return time_of([&] {
        if (which.size() == bench.pages())
            copy(0, bench.memories.bytes());
        else
            for (const unsigned page : which)
                copy(page * page_bytes, page_bytes);
        bench.queue->finish();
    });
}

Times times_of(Bench &bench, const std::vector<unsigned> &which)
{
    /* The time is until all has come. */
    arena::Coherence coherence(bench.memories, {.most_at_once = bench.pages()});
    arena::Region &region = coherence.add(Party::host);
    coherence.grow(region, {0, bench.memories.bytes()});
    std::vector<arena::Stretch> declared;
    for (const unsigned page : which)
        declared.push_back({page * page_bytes, page_bytes});
    /* Nothing is all zero any more, and all is on both sides. */
    bench.touch_on_host(every(bench.pages()), 1);
    coherence.take_ownership(region, Party::gpus);
    coherence.take_ownership(region, Party::host);

    Times times;
    std::uint32_t value = 1;
    for (unsigned round = 0; round <= bench.rounds; round++) {
        const bool is_declared = round % 2;
        bench.touch_on_host(which, ++value);
        const double to_gpus = time_of([&] { coherence.take_ownership(region, Party::gpus); });
        bench.check_gpu(bench.check ? which : std::vector<unsigned>{which.front()}, value);
        bench.touch_on_gpu(which, ++value);
        const double to_host = time_of([&] {
            coherence.take_ownership(region, Party::host, is_declared ? arena::Declared(declared) : arena::Declared());
        });
        bench.check_host(which, value);
        if (round > 0 || bench.check) {
            times.to_gpus.push_back(to_gpus);
            (is_declared ? times.declared : times.to_host).push_back(to_host);
        }
        const double up = by_hand(bench, which, [&](std::size_t offset, std::size_t bytes) {
            bench.queue->upload(bench.memories.on_gpu(offset), bench.memories.alias() + offset, bytes);
        });
        const double down = by_hand(bench, which, [&](std::size_t offset, std::size_t bytes) {
            bench.queue->download(bench.memories.alias() + offset, bench.memories.on_gpu(offset), bytes);
        });
        if (round > 0 || bench.check) {
            times.by_hand_to_gpus.push_back(up);
            times.by_hand_to_host.push_back(down);
        }
    }
    coherence.remove(region);
    return times;
}

void record(const std::string &name, const Times &times, const std::string &what, Report &report)
{
    report.record(name + "/to-gpus_us", samples::spread_of(times.to_gpus), "us", what);
    report.record(name + "/to-host_us", samples::spread_of(times.to_host), "us", "what was changed is looked for");
    report.record(name + "/by-hand-to-gpus_us", samples::spread_of(times.by_hand_to_gpus), "us");
    report.record(name + "/by-hand-to-host_us", samples::spread_of(times.by_hand_to_host), "us");
    if (!times.declared.empty())
        report.record(name + "/to-host/declared_us", samples::spread_of(times.declared), "us");
}

} // namespace

void measure_hand_over(const Settings &settings, Report &report)
{
    Bench bench(settings, settings.check ? 32 : 1024);
    const Times few = times_of(bench, one_percent(bench.pages())), all = times_of(bench, every(bench.pages()));
    record("handover-1percent", few, "64 MiB, of which one page in a hundred was changed", report);
    record("handover-whole", all, "64 MiB, of which all was changed", report);
    if (bench.check)
        return;
    report.record("handover-1percent", ratio_of(few.to_gpus, few.by_hand_to_gpus), "x copying just that");
    report.record("handover-1percent/to-host", ratio_of(few.to_host, few.by_hand_to_host), "x copying just that",
                  "what was changed is looked for");
    report.record("handover-1percent/to-host/declared", ratio_of(few.declared, few.by_hand_to_host),
                  "x copying just that");
    report.record("handover-whole", ratio_of(all.by_hand_to_gpus, all.to_gpus), "of the bus");
    report.record("handover-whole/to-host", ratio_of(all.by_hand_to_host, all.to_host), "of the bus",
                  "what was changed is looked for");
    report.record("handover-whole/to-host/declared", ratio_of(all.by_hand_to_host, all.declared), "of the bus");
}

/* Of the host's threads, on pages that it has, and on those that come from the GPU. */
void measure_faults(const Settings &settings, Report &report)
{
    Bench bench(settings, settings.check ? 32 : 1024);
    arena::Coherence coherence(bench.memories, {});
    arena::Region &region = coherence.add({});
    coherence.grow(region, {0, bench.memories.bytes()});
    std::vector<unsigned> backwards = every(bench.pages()), forwards = backwards;
    std::reverse(backwards.begin(), backwards.end());
    const auto pages = static_cast<double>(bench.pages());
    std::vector<double> single, run, fetched, fetched_run;
    std::uint32_t value = 0;
    const unsigned rounds = bench.check ? 1 : 5;
    for (unsigned round = 0; round < rounds; round++) {
        for (const auto &[order, here, there] :
             {std::tuple(&backwards, &single, &fetched), {&forwards, &run, &fetched_run}}) {
            here->push_back(time_of([&] { bench.touch_on_host(*order, ++value); }) / pages);
            coherence.take_ownership(region, Party::gpus);
            bench.touch_on_gpu(*order, ++value);
            coherence.give_up(region);
            there->push_back(time_of([&] { bench.check_host(*order, value); }) / pages);
        }
    }
    report.record("fault/write_us", samples::spread_of(single), "us a page", "against the order, one by one");
    report.record("fault/write-in-order_us", samples::spread_of(run), "us a page");
    report.record("fault/fetch_us", samples::spread_of(fetched), "us a page", "against the order, one by one");
    report.record("fault/fetch-in-order_us", samples::spread_of(fetched_run), "us a page");
}

} // namespace ptsched::bench_arena
