// SPDX-License-Identifier: MIT
/* How fast a GPU finds what was changed, against its own copies. */
#include "libptsched/arena/coherence/gpu_side.hpp"
#include "libptsched/arena/coherence/kernels_image.hpp"
#include "tests/bench/arena/bench.hpp"

namespace ptsched::bench_arena {

namespace {

/* Of so many bytes, as the GPU measures it; what is compared is as many bytes as what is copied, and a twin besides. */
struct Times {
    std::vector<double> copy, compare;
};

class Compared {
public:
    explicit Compared(Bench &bench)
        : bench_(bench),
          code_(device::cuda_code_from_image(bench.gpu, arena::kernels_image(), "ptsched_arena_compare")),
          twin_(device::Allocation::on_device(bench.gpu, bench.memories.bytes())),
          entries_(device::Allocation::on_device(bench.gpu, bench.pages() * sizeof(arena::ArenaCompared))),
          counts_(device::Allocation::on_device(bench.gpu, bench.pages() * sizeof(unsigned)))
    {
        std::vector<arena::ArenaCompared> all;
        for (unsigned page = 0; page < bench.pages(); page++)
            all.push_back({page, arena::arena_count});
        bench.queue->upload(entries_.address(), all.data(), all.size() * sizeof(all[0]));
        bench.queue->finish();
        make_equal();
    }
    void make_equal()
    {
        const std::vector<unsigned> zeros(bench_.pages());
        bench_.queue->upload(counts_.address(), zeros.data(), zeros.size() * sizeof(unsigned));
        bench_.queue->copy(twin_.address(), bench_.gpu, bench_.memories.on_gpu(0), bench_.memories.bytes());
        bench_.queue->finish();
    }
    double copy_us()
    {
        return on_gpu_us([&] {
            bench_.queue->copy(twin_.address(), bench_.gpu, bench_.memories.on_gpu(0), bench_.memories.bytes());
        });
    }
    double compare_us()
    {
        device::Address current = bench_.memories.on_gpu(0), twin = twin_.address(), entries = entries_.address();
        device::Address counts = counts_.address(), none = 0;
        unsigned room = 0;
        device::Geometry geometry;
        geometry.grid.x = static_cast<unsigned>(bench_.pages() * arena::arena_page_blocks);
        geometry.block.x = arena::arena_threads;
        return on_gpu_us([&] {
            bench_.queue->run(*code_, geometry, {&current, &twin, &entries, &counts, &none, &none, &room});
        });
    }
    std::uint64_t counted()
    {
        std::vector<unsigned> counts(bench_.pages());
        bench_.queue->download(counts.data(), counts_.address(), counts.size() * sizeof(unsigned));
        bench_.queue->finish();
        std::uint64_t sum = 0;
        for (const unsigned one : counts)
            sum += one;
        return sum;
    }

private:
    template <typename Function> double on_gpu_us(Function function)
    {
        const auto watch = bench_.queue->watch();
        function();
        if (watch)
            watch->stop();
        bench_.queue->finish();
        return watch ? watch->seconds() * 1e6 : 0;
    }

    Bench &bench_;
    const std::unique_ptr<device::Code> code_;
    const device::Allocation twin_, entries_, counts_;
};

/* @every: that many words apart, some were changed; 0: none. */
Times times_of(Bench &bench, Compared &compared, unsigned every)
{
    Times times;
    std::uint32_t value = 1;
    for (unsigned round = 0; round <= bench.rounds; round++) {
        compared.make_equal();
        if (every)
            bench.change_on_gpu(every, ++value);
        const double compare = compared.compare_us();
        const std::uint64_t words = bench.memories.bytes() / 4;
        if (compared.counted() != (every ? (words + every - 1) / every : 0))
            throw Error("not as many words were found to be different as were changed");
        const double copy = compared.copy_us();
        if (round > 0 || bench.check) {
            times.compare.push_back(compare);
            times.copy.push_back(copy);
        }
    }
    return times;
}

/* All of a release by GPUs: the kernel, what it answers, and the words, where the host writes the same pages. */
void measure_release(const Settings &settings, Report &report)
{
    Bench bench(settings, settings.check ? 4 : 1024);
    arena::Coherence coherence(bench.memories, {});
    arena::Region &region = coherence.add({});
    coherence.grow(region, {0, bench.memories.bytes()});
    coherence.access(region, arena::Party::gpus);
    std::vector<double> none, words;
    std::uint32_t value = 0;
    for (unsigned round = 0; round <= bench.rounds; round++) {
        none.push_back(time_of([&] { coherence.release(region, arena::Party::gpus); }));
        std::vector<unsigned> all;
        for (unsigned page = 0; page < bench.pages(); page++)
            all.push_back(page);
        /* The host writes another word of each page. */
        for (const unsigned page : all)
            *reinterpret_cast<std::uint32_t *>(bench.memories.view() + page * page_bytes + page_bytes - 4) = value;
        bench.touch_on_gpu(all, ++value);
        words.push_back(time_of([&] { coherence.release(region, arena::Party::gpus); }));
        coherence.acquire(region, arena::Party::host);
        bench.check_host(all, value);
        coherence.release(region, arena::Party::host);
        coherence.acquire(region, arena::Party::gpus);
    }
    report.record("release/none_us", samples::spread_of(none), "us", "64 MiB of which nothing was changed");
    report.record("release/words_us", samples::spread_of(words), "us", "a word of each page, on pages that both write");
}

} // namespace

void measure_differences(const Settings &settings, Report &report)
{
    const struct {
        const char *name;
        std::size_t mebibytes;
    } sizes[] = {{"", 1024}, {"/64MiB", 64}};
    for (const auto &size : sizes) {
        Bench bench(settings, settings.check ? 4 : size.mebibytes * 16);
        bench.change_on_gpu(1, 1);
        Compared compared(bench);
        const std::string name = std::string("diff-over-copy") + size.name;
        for (const unsigned every : {0U, 100U, 1U}) {
            const Times times = times_of(bench, compared, every);
            const std::string which = every == 0 ? "" : every == 1 ? "/all" : "/1percent";
            if (!bench.check)
                report.record(name + which, ratio_of(times.copy, times.compare), "of the copy's bandwidth",
                              every == 0   ? "nothing changed"
                              : every == 1 ? "every word changed"
                                           : "every 100th word");
            report.record(name + which + "/compare_us", samples::spread_of(times.compare), "us");
            report.record(name + which + "/copy_us", samples::spread_of(times.copy), "us");
        }
    }
    measure_release(settings, report);
}

} // namespace ptsched::bench_arena
