// SPDX-License-Identifier: MIT
/* A GPU whose memory is full: what nobody uses makes room, in the right order, and what is used does not. */
#include "libptsched/device/cuda.hpp"
#include "libptsched/device/pool.hpp"
#include "tests/device/work.hpp"
#include "tests/host_flag.h"
#include "tests/threads.h"
#include <ptsched/ptask/graph.hpp>

#include <atomic>
#include <thread>

using namespace ptsched;
using namespace test;
using ptsched::device::Access;
using ptsched::device::Address;
using ptsched::device::Datablock;

namespace {

constexpr std::size_t kilo = 1024;

bool is_on(const DatablockPtr &block, const device::Device &device)
{
    return !block->missing(device);
}

/* Has it copied there, and nothing done with it. */
void touch(Adder &adder, const DatablockPtr &block)
{
    const Access::Item items[] = {Access::reads(*block)};
    Address address;
    Access access(adder.gpu, *adder.queue, items, &address);
    access.given(adder.queue->mark());
}

void clean_copies_go_first()
{
    Limit limit(gpu(), 4 * kilo);
    Adder adder(gpu());
    auto a = filled(1, kilo), b = filled(2, kilo), c = filled(3, kilo);
    auto dirty = adder.add(a, b);
    adder.finish();
    touch(adder, c);
    touch(adder, a);
    adder.finish();
    CHECK(is_on(a, gpu()) && is_on(b, gpu()) && is_on(c, gpu()) && is_on(dirty, gpu()));

    /* The longest unused of those that are on the host as well. */
    auto d = filled(4, kilo);
    touch(adder, d);
    CHECK(!is_on(b, gpu()));
    CHECK(is_on(a, gpu()) && is_on(c, gpu()) && is_on(d, gpu()) && is_on(dirty, gpu()));
    CHECK(!is_on(dirty, device::host()));
    CHECK(holds(*b, 2));
}

void then_dirty_ones()
{
    Limit limit(gpu(), 3 * kilo);
    Adder adder(gpu());
    auto a = filled(1, kilo), b = filled(2, kilo);
    auto first = adder.add(a, b);
    adder.finish();
    auto second = adder.add(first, first);
    adder.finish();
    auto third = adder.add(second, second);
    adder.finish();
    CHECK(is_on(first, gpu()) && is_on(second, gpu()) && is_on(third, gpu()));
    CHECK(!is_on(a, gpu()) && !is_on(b, gpu()));
    touch(adder, a);
    CHECK(!is_on(first, gpu()));
    CHECK(is_on(first, device::host()));
    CHECK(is_on(second, gpu()) && is_on(third, gpu()));
    CHECK(holds(*first, 3) && holds(*second, 6) && holds(*third, 12));
}

/* What work renews each time goes as if it existed elsewhere, and comes back without its content. */
void scratch_is_not_copied()
{
    Limit limit(gpu(), 2 * kilo);
    Adder adder(gpu());
    auto a = filled(1, kilo), scratch = Datablock::scratch(kilo);
    auto renew = [&] {
        const Access::Item items[] = {Access::renews(*scratch)};
        Address address;
        Access access(gpu(), *adder.queue, items, &address);
        auto marker = adder.queue->mark();
        access.given(marker);
        marker->wait();
    };
    renew();
    auto dirty = adder.add(a, a);
    adder.finish();
    CHECK(!is_on(scratch, gpu()) && !is_on(scratch, device::host()));
    CHECK_EQ(scratch->evictions(), std::uint64_t{1});
    renew();
    CHECK(is_on(scratch, gpu()) && is_on(dirty, gpu()) && !is_on(a, gpu()));
    CHECK(holds(*dirty, 2));
}

/* Without a limit of ours: it is the driver who refuses. */
void the_driver_has_no_more()
{
    Adder adder(gpu());
    std::vector<DatablockPtr> blocks;
    constexpr std::size_t bytes = 64 * kilo, count = 3 * gpu_memory / bytes;

    for (std::size_t i = 0; i < count; i++)
        blocks.push_back(filled(static_cast<float>(i), bytes));
    for (std::size_t i = 0; i < count; i++)
        blocks.push_back(adder.add(blocks[i], blocks[count - 1 - i]));
    adder.finish();
    for (std::size_t i = 0; i < count; i++)
        CHECK(holds(*blocks[count + i], static_cast<float>(count - 1)));
}

/* Work that nobody can finish yet uses it: what needs the room waits for that work. */
void what_is_used_stays()
{
    Limit limit(gpu(), kilo);
    Adder adder(gpu());
    auto code = device::cuda_code(gpu(), kernels(), "wait_for_host");
    auto queue = gpu().make_queue();
    auto seen = Datablock::empty(kilo);
    HostFlag flag;
    Address flag_address = HostFlag::address();
    {
        const Access::Item items[] = {Access::writes(*seen)};
        Address address;
        Access access(gpu(), *queue, items, &address);
        queue->run(*code, {}, {&flag_address, &address});
        access.given(queue->mark());
    }
    auto other = filled(1, kilo);
    std::thread waiter([&] {
        touch(adder, other);
        /* It came after the end of the kernel, or there was no room. */
        CHECK(flag.is_raised());
    });
    CHECK(!is_on(other, gpu()));
    CHECK(is_on(seen, gpu()));
    flag.raise();
    waiter.join();
    CHECK(is_on(other, gpu()));
    CHECK_EQ(seen->as<unsigned>()[0], HostFlag::raised);
}

/* A kernel keeps a queue busy, which ends when the thread that made this sleeps, once that is about to. */
class BusyUntilAsleep {
public:
    BusyUntilAsleep(device::Device &gpu, device::Queue &queue)
        : queue_(queue), code_(device::cuda_code(gpu, kernels(), "wait_for_host", device::Module::own)),
          seen_(Datablock::empty(kilo)), caller_(gettid())
    {
        Address flag = HostFlag::address(), seen = seen_->produce(gpu, queue);
        queue.run(*code_, {}, {&flag, &seen});
        about_to_sleep = false;
        raiser_ = std::thread([this] {
            while (!about_to_sleep || caller_.get() != 'S')
                std::this_thread::yield();
            flag_.raise();
        });
    }
    /* Sleeps itself, if nobody has. */
    ~BusyUntilAsleep()
    {
        about_to_sleep = true;
        raiser_.join();
        device::settle(queue_);
    }
    BusyUntilAsleep(const BusyUntilAsleep &) = delete;
    BusyUntilAsleep &operator=(const BusyUntilAsleep &) = delete;

    bool is_over() const { return flag_.is_raised(); }

    static inline std::atomic<bool> about_to_sleep;

private:
    device::Queue &queue_;
    /* Its own: the virtual GPU does at once what was short before. */
    const std::unique_ptr<device::Code> code_;
    const DatablockPtr seen_;
    HostFlag flag_;
    ThreadState caller_;
    std::thread raiser_;
};

/* Nor does the memory of what is dropped while it is copied to the host go to others, to whom that copy would come. */
void what_is_copied_stays()
{
    Adder adder(gpu());
    auto queue = gpu().make_queue();
    auto one = filled(1, kilo);
    BusyUntilAsleep busy(gpu(), *queue);
    auto sum = adder.add(one, one);
    adder.finish();
    /* Other copies come before. */
    gpu().outgoing().after(queue->mark());
    sum->bring_to_host();
    BusyUntilAsleep::about_to_sleep = true;
    sum.reset();
    CHECK(busy.is_over());
}

/* Likewise what is brought to a device for work that does not come. */
void what_is_brought_stays()
{
    auto queue = gpu().make_queue(), copies = gpu().make_queue();
    const auto stays = [&](auto bring) {
        BusyUntilAsleep busy(gpu(), *queue);
        copies->after(queue->mark());
        auto block = filled(1, kilo);
        bring(*block);
        BusyUntilAsleep::about_to_sleep = true;
        block.reset();
        CHECK(busy.is_over());
    };
    stays([&](Datablock &block) { block.prefetch(gpu(), *copies); });
    stays([&](Datablock &block) {
        gpu().incoming().after(copies->mark());
        block.prefetch(gpu());
    });
}

/* Who has waited for the work that used it has waited for the copy, though nobody knows where that ended. */
void what_was_used_keeps_nobody_waiting()
{
    auto queue = gpu().make_queue();
    auto block = filled(1, kilo);
    {
        const Access::Item item = Access::reads(*block);
        Address address;
        Access access(gpu(), *queue, {&item, 1}, &address);
        access.given(queue->mark_for_later());
    }
    queue->finish();
    BusyUntilAsleep busy(gpu(), *queue);
    BusyUntilAsleep::about_to_sleep = true;
    block.reset();
    CHECK(!busy.is_over());
}

/* @work fails behind a kernel that does not end before, and only when the queue has done what it had. */
template <typename Work>
void fails_late(device::Device &gpu, device::Queue &queue, Work work, const std::vector<std::string> &words)
{
    BusyUntilAsleep busy(gpu, queue);
    CHECK(refused(work, words));
    CHECK(busy.is_over());
}

/* A GPU whose driver has no more events. */
class WithoutEvents {
public:
    WithoutEvents() = default;
    ~WithoutEvents() { gpu.limit_memory(SIZE_MAX); }
    WithoutEvents(const WithoutEvents &) = delete;
    WithoutEvents &operator=(const WithoutEvents &) = delete;

    template <typename Work> void fails_late(device::Queue &queue, Work work)
    {
        ::fails_late(gpu, queue, work, {"cuEventCreate", "OUT_OF_MEMORY"});
    }

    device::Device &gpu = only();

private:
    static CUresult refuse(CUevent *, unsigned)
    {
        BusyUntilAsleep::about_to_sleep = true;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* For good, as all devices are. */
    static device::Device &only()
    {
        static device::Driver driver = *device::Driver::get();
        driver.event_create = refuse;
        static device::Device &device = *new device::CudaDevice(driver, 0);
        return device;
    }
};

void work_of_a_failed_access_ends()
{
    WithoutEvents without;
    auto queue = without.gpu.make_queue();
    auto source = filled(1, kilo), copy = Datablock::empty(kilo);
    const Access::Item items[] = {Access::writes(*copy, source.get())};
    Address address;
    without.fails_late(*queue, [&] { Access(without.gpu, *queue, items, &address); });
    CHECK(!copy->has_content());
    const Access::Item written[] = {Access::writes(*copy)};
    const std::vector<float> values(kilo / sizeof(float), 2);
    without.fails_late(*queue, [&] {
        Access access(without.gpu, *queue, written, &address);
        queue->upload(address, values.data(), kilo);
        access.given(queue->mark());
    });
    CHECK(!copy->has_content());
}

void copies_that_cannot_be_marked_end()
{
    WithoutEvents without;
    auto queue = without.gpu.make_queue();
    auto there = Datablock::empty(kilo), here = filled(1, kilo);
    /* Many have it: it is not marked for later only. */
    const DatablockPtr more[] = {here, here};
    there->produce(without.gpu, *queue);
    device::Queue &outgoing = without.gpu.outgoing();
    std::vector<float> read(kilo / sizeof(float));
    without.fails_late(outgoing, [&] { there->bring_to_host(); });
    without.fails_late(outgoing, [&] { there->read_into(read.data()); });
    CHECK(!is_on(there, device::host()));
    without.fails_late(*queue, [&] { here->use(without.gpu, *queue); });
    CHECK(!is_on(here, without.gpu));
}

/* Each way the driver copies a row, and refuses the next. */
namespace one_row {

unsigned uploads, downloads;

CUresult upload(CUdeviceptr to, const void *from, std::size_t bytes, CUstream stream)
{
    if (!uploads++)
        return device::Driver::get()->upload(to, from, bytes, stream);
    BusyUntilAsleep::about_to_sleep = true;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult download(void *to, CUdeviceptr from, std::size_t bytes, CUstream stream)
{
    if (!downloads++)
        return device::Driver::get()->download(to, from, bytes, stream);
    BusyUntilAsleep::about_to_sleep = true;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* For good, as all devices are. */
device::Device &gpu()
{
    static device::Driver driver = *device::Driver::get();
    driver.copy_rows = nullptr;
    driver.upload = upload;
    driver.download = download;
    static device::Device &device = *new device::CudaDevice(driver, 0);
    return device;
}

} // namespace one_row

void rows_before_one_that_fails_end()
{
    constexpr std::size_t rows = 4;
    device::Device &bad = one_row::gpu();
    auto queue = bad.make_queue();
    std::vector<float> x(rows * kilo / sizeof(float)), y(x);
    const device::Rows every_other{kilo / 2, rows, kilo};
    auto here = Datablock::at_home(x.data(), every_other), there = Datablock::at_home(y.data(), every_other);
    fails_late(bad, *queue, [&] { here->use(bad, *queue); }, {"cuMemcpyHtoDAsync"});
    CHECK(!is_on(here, bad));
    {
        const Access::Item item = Access::renews(*there);
        Address address;
        Access access(bad, *queue, {&item, 1}, &address);
        access.given(queue->mark());
    }
    fails_late(bad, bad.outgoing(), [&] { there->bring_to_host(); }, {"cuMemcpyDtoHAsync"});
    CHECK(!is_on(there, device::host()));
    here.reset();
    there.reset();
    bad.trim(0);
}

void too_much_for_one()
{
    Limit limit(gpu(), 2 * kilo);
    Adder adder(gpu());
    auto a = filled(1, kilo), b = filled(2, kilo);

    CHECK(refused([&] { adder.add(a, b); }, {gpu().name(), "no memory", "1024 bytes"}));
    auto sum = adder.add(a, a);
    CHECK(holds(*sum, 2));
    /* What could not be done has left nothing behind. */
    const Access::Item items[] = {Access::reads(*a), Access::reads(*b), Access::reads(*sum)};
    Address addresses[3];
    CHECK(refused([&] { Access(gpu(), *adder.queue, items, addresses); }, {"no memory"}));
    auto again = Datablock::empty(kilo);
    const Access::Item too_many[] = {Access::writes(*again), Access::reads(*a), Access::reads(*b)};
    CHECK(refused([&] { Access(gpu(), *adder.queue, too_many, addresses); }, {"no memory"}));
    CHECK(!again->has_content());
    CHECK(holds(*adder.add(b, b), 4));
}

void what_use_gave_stays()
{
    Limit limit(gpu(), 2 * kilo);
    Adder adder(gpu());
    auto kept = filled(1, kilo), other = filled(2, kilo), third = filled(3, kilo);
    Address address = kept->use(gpu(), *adder.queue);
    touch(adder, other);
    touch(adder, third);
    CHECK(is_on(kept, gpu()) && is_on(third, gpu()) && !is_on(other, gpu()));
    CHECK_EQ(kept->use(gpu(), *adder.queue), address);
    CHECK(refused([&] { adder.add(other, other); }, {"no memory"}));
}

void a_graph_that_does_not_fit()
{
    using namespace ptsched::ptask;
    constexpr unsigned n = 8192, count = 60;
    std::vector<std::unique_ptr<Limit>> limits;
    for (device::Device *one : device::gpus())
        limits.push_back(std::make_unique<Limit>(*one, 5 * n * sizeof(float)));
    Graph graph;
    auto form = Template::of<float>(n);
    std::vector ports = {in("a", form), in("b", form), out("c", form), value("n", sizeof(unsigned))};
    Task &first = graph.cuda("first", {kernels(), "vector_add"}, ports);
    Task &second = graph.cuda("second", {kernels(), "vector_add"}, ports);
    Input &a = graph.input(first["a"]), &b = graph.input(first["b"]), &c = graph.input(second["b"]);
    graph.connect(first["c"], second["a"], count);
    Output &sum = graph.output(second["c"], count);
    graph.input(first["n"]).push_value(n);
    graph.input(second["n"]).push_value(n);
    graph.run();
    /* All of them are in the graph before the first is looked at. */
    std::vector<DatablockPtr> results;
    std::thread feeder([&] {
        for (unsigned i = 0; i < count; i++) {
            a.push(filled(static_cast<float>(i), n * sizeof(float)));
            b.push(filled(1, n * sizeof(float)));
            c.push(filled(2, n * sizeof(float)));
        }
    });
    for (unsigned i = 0; i < count; i++)
        results.push_back(sum.pull());
    feeder.join();
    for (unsigned i = 0; i < count; i++)
        CHECK(holds(*results[i], static_cast<float>(i + 3)));
}

/* A driver may take long to free. */
void freeing_keeps_nobody_waiting()
{
    Address given = 0;
    unsigned freed = 0;
    device::Pool *pool = nullptr;
    auto allocate = [&](std::size_t) { return given += kilo; };
    auto release = [&](Address) {
        if (freed++)
            return;
        std::thread([&] { pool->give(pool->take(kilo), kilo); }).join();
    };
    {
        device::Pool kept(allocate, release);
        pool = &kept;
        kept.give(kept.take(kilo), kilo);
        kept.limit(2 * kilo);
        CHECK_EQ(freed, 1u);
        CHECK_EQ(given, Address(2 * kilo));
    }
    CHECK_EQ(freed, 2u);
}

} // namespace

std::vector<tap::Case> test::memory_cases()
{
    return {{"copies that exist elsewhere go first, the longest unused one", clean_copies_go_first},
            {"then those that must be copied to the host", then_dirty_ones},
            {"what is renewed each time is not copied to the host", scratch_is_not_copied},
            {"a driver that has no more memory", the_driver_has_no_more},
            {"what work uses stays until it has ended", what_is_used_stays},
            {"what is copied to the host stays until it is there", what_is_copied_stays},
            {"what is brought ahead of work stays until it is there", what_is_brought_stays},
            {"what work has used keeps nobody waiting", what_was_used_keeps_nobody_waiting},
            {"what failed leaves no work behind that could not be marked", work_of_a_failed_access_ends},
            {"nor copies", copies_that_cannot_be_marked_end},
            {"nor rows before one that cannot be copied", rows_before_one_that_fails_end},
            {"work that needs more than there is is refused", too_much_for_one},
            {"what use() gave stays", what_use_gave_stays},
            {"a graph whose datablocks do not fit a GPU's memory", a_graph_that_does_not_fit},
            {"while memory is given back to the driver there is other memory", freeing_keeps_nobody_waiting}};
}
