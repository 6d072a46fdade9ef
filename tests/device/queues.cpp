// SPDX-License-Identifier: MIT
/* Queues that are given out again, by priority; streams and events of a program's own, and for it. */
#include "libptsched/device/cuda.hpp"
#include "tests/device/work.hpp"
#include "tests/host_flag.h"
#include <ptsched/device/queue_pool.hpp>

#include <thread>

using namespace test;
using device::Datablock;
using device::QueuePool;

namespace {

const device::Driver &driver()
{
    return *device::Driver::get();
}

/* A kernel that ends when the test says so. */
class Waiting {
public:
    explicit Waiting(device::Queue &queue) : queue_(queue), seen_(Datablock::empty(sizeof(unsigned)))
    {
        device::Address flag = HostFlag::address(), seen = seen_->produce(gpu(), queue);
        queue.run(*code_, {}, {&flag, &seen});
        seen_->written(queue.mark());
    }
    ~Waiting()
    {
        flag.raise();
        device::settle(queue_);
    }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;
    HostFlag flag;

private:
    device::Queue &queue_;
    const std::unique_ptr<device::Code> code_ =
        device::cuda_code(gpu(), kernels(), "wait_for_host", device::Module::own);
    const DatablockPtr seen_;
};

void given_out_again()
{
    QueuePool &pool = QueuePool::of(gpu());
    CHECK(&pool == &QueuePool::of(gpu()) && &pool != &QueuePool::of(device::host()));
    pool.trim();
    device::Queue *first = nullptr;
    {
        auto one = pool.take(), other = pool.take();
        first = one.get();
        CHECK(first != other.get());
        CHECK_EQ(pool.kept(), std::size_t{0});
    }
    CHECK_EQ(pool.kept(), std::size_t{2});
    /* The device may have to say yet that nothing is left of it. */
    while (pool.take().get() != first)
        std::this_thread::yield();
    auto again = pool.take(), more = pool.take();
    CHECK(again.get() != more.get());
}

/* One with work left is not given to somebody else, who would wait for that. */
void not_with_work_left()
{
    QueuePool &pool = QueuePool::of(gpu());
    pool.trim();
    auto busy = pool.take();
    device::Queue *const had = busy.get();
    {
        Waiting waiting(*busy);
        busy.reset();
        auto other = pool.take();
        CHECK(other.get() != had);
        other->finish();
    }
    while (pool.take().get() != had)
        std::this_thread::yield();
    pool.trim();
    CHECK_EQ(pool.kept(), std::size_t{0});
}

/* Of the host, nothing is done any more after a failure. */
void not_after_a_failure()
{
    QueuePool &pool = QueuePool::of(device::host());
    pool.trim();
    auto bad = device::host_code([](const std::vector<void *> &) { throw ptsched::Error("no"); });
    std::atomic<bool> done{false};
    auto good = device::host_code([&](const std::vector<void *> &) { done = true; });
    {
        auto queue = pool.take();
        queue->run(*bad, {}, {});
        CHECK(refused([&] { queue->finish(); }, {"no"}));
    }
    auto queue = pool.take();
    queue->run(*good, {}, {});
    queue->finish();
    CHECK(done);
}

int native_priority(const device::Queue &queue)
{
    int priority = -99;
    driver().need(&device::Driver::stream_priority, "a test")(static_cast<CUstream>(queue.native_stream()), &priority);
    return priority;
}

void by_priority()
{
    const auto there = gpu().priorities();
    CHECK(there.highest > there.lowest);
    QueuePool &pool = QueuePool::of(gpu());
    auto urgent = pool.take(there.highest), most = pool.take(1000), usual = pool.take();
    CHECK_EQ(native_priority(*urgent), -there.highest);
    CHECK_EQ(native_priority(*most), -there.highest);
    CHECK_EQ(native_priority(*usual), 0);
    device::Queue *const was = usual.get();
    usual.reset();
    CHECK(pool.take(there.highest).get() != was);
    CHECK_EQ(device::host().priorities().highest, 0);
    CHECK(bare_gpu().priorities().highest == 0 && bare_gpu().make_queue_at(5));
}

/* What a program gives a queue's stream by itself comes between what the queue is given. */
void a_queues_stream_for_the_program()
{
    auto queue = gpu().make_queue();
    auto block = filled(1, 1024);
    const device::Address address = block->use(gpu(), *queue);
    std::vector<float> before(256), after(256);
    queue->download(before.data(), address, 1024);
    device::Entered entered(static_cast<device::CudaDevice &>(gpu()));
    const std::vector<float> twos(256, 2);
    CHECK_EQ(driver().upload(address, twos.data(), 1024, static_cast<CUstream>(queue->native_stream())), CUDA_SUCCESS);
    queue->download(after.data(), address, 1024);
    queue->finish();
    CHECK(before == std::vector<float>(256, 1) && after == twos);
    CHECK(!device::host().make_queue()->native_stream());
}

/* A stream and an event of the program's. */
struct Own {
    Own()
    {
        CHECK_EQ(driver().stream_create(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        CHECK_EQ(driver().event_create(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    }
    ~Own()
    {
        driver().event_destroy(event);
        driver().stream_destroy(stream);
    }
    Own(const Own &) = delete;
    Own &operator=(const Own &) = delete;
    device::Entered entered{static_cast<device::CudaDevice &>(gpu())};
    CUstream stream{};
    CUevent event{};
};

void a_programs_stream_as_a_queue()
{
    Own own;
    {
        auto queue = gpu().wrap_stream(own.stream);
        CHECK(queue->native_stream() == own.stream);
        auto block = filled(3, 1024);
        std::vector<float> read(256);
        queue->download(read.data(), block->use(gpu(), *queue), 1024);
        auto marker = queue->mark();
        marker->wait();
        CHECK(read == std::vector<float>(256, 3));
    }
    /* It is the program's still. */
    CHECK_EQ(driver().stream_synchronize(own.stream), CUDA_SUCCESS);
    CHECK(refused([] { gpu().wrap_stream(nullptr); }, {"null stream"}));
    CHECK(refused([] { gpu().wrap_stream(CU_STREAM_PER_THREAD); }, {"each thread"}));
    CHECK(refused([&] { device::gpus().at(1)->wrap_stream(own.stream); }, {"another context"}));
    CHECK(refused([&] { device::host().wrap_stream(own.stream); }, {"host", "no streams"}));
}

void waits_for_a_programs_event()
{
    Own own;
    auto queue = gpu().make_queue(), its = gpu().wrap_stream(own.stream);
    auto waiting = std::make_unique<Waiting>(*its);
    CHECK_EQ(driver().event_record(own.event, own.stream), CUDA_SUCCESS);
    queue->after_native(own.event);
    auto marker = queue->mark();
    CHECK(!marker->reached());
    waiting->flag.raise();
    marker->wait();
    its->finish();
    CHECK(refused([&] { queue->after_native(nullptr); }, {"null"}));
    CHECK(refused([&] { device::host().make_queue()->after_native(own.event); }, {"events"}));
}

void a_program_waits_for_a_marker()
{
    Own own;
    auto queue = gpu().make_queue(), its = gpu().wrap_stream(own.stream);
    {
        Waiting waiting(*queue);
        auto marker = queue->mark();
        auto *event = static_cast<CUevent>(marker->native_event());
        if (!CHECK(event))
            return;
        CHECK_EQ(driver().event_query(event), CUDA_ERROR_NOT_READY);
        CHECK_EQ(driver().stream_wait(own.stream, event, 0), CUDA_SUCCESS);
        auto behind = its->mark();
        CHECK(!behind->reached());
        waiting.flag.raise();
        behind->wait();
        CHECK(marker->reached());
    }
    CHECK(!device::host().make_queue()->mark()->native_event());
}

} // namespace

std::vector<tap::Case> test::queue_cases()
{
    return {{"queues are given out again", given_out_again},
            {"queues with work left are not", not_with_work_left},
            {"nor those whose work has failed", not_after_a_failure},
            {"queues by priority", by_priority},
            {"a queue's stream, for the program", a_queues_stream_for_the_program},
            {"a program's stream as a queue", a_programs_stream_as_a_queue},
            {"a queue waits for a program's event", waits_for_a_programs_event},
            {"a program waits for a marker", a_program_waits_for_a_marker}};
}
