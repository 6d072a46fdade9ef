// SPDX-License-Identifier: MIT
/* Streams: tasks follow what they depend on, without an event where they need none. */
#include "libptsched/tasks/gpu/ready_list.hpp"
#include "tests/tasks/gpu/cases.hpp"

using namespace test;
using tasks::in, tasks::inout, tasks::out;

namespace {

void a_task_ends()
{
    Core core;
    bool called = false;
    const Node &task = core.give({}, [&](const tasks::Call &call) {
        called = call.queue && call.stream && call.device == 0 && call.owner == device::gpus().at(0);
    });
    CHECK(called);
    CHECK(task.task.position.stream && task.task.position.number == 1);
    core.end(task);
    CHECK(!task.failure);
    CHECK(!core.side().is_busy());
    CHECK_EQ(core.state().on_devices, std::uint64_t{1});
    CHECK_EQ(core.state().batches, std::uint64_t{1});
}

/* Each follows the last one of a stream, and goes behind it. */
void a_chain_needs_no_events()
{
    Core core;
    std::vector<float> x(64, 1);
    std::vector<Node *> last;
    for (unsigned i = 0; i < 10; i++)
        last = {&core.give({inout(x), inout(x)}, add_up(), last)};
    core.finish();
    CHECK(all_are(x, 1024));
    CHECK_EQ(core.state().stream_waits, std::uint64_t{0});
}

void across_streams_they_wait()
{
    Core core;
    Held held;
    std::vector<float> x(64, 1), y(64, 2), z(64), w(64);
    Node &wait = core.give({inout(x)}, held.task());
    Node &a = core.give({in(x), in(y), out(z)}, add_up(), {&wait});
    /* Not behind the first, since something is there already. */
    Node &b = core.give({in(x), in(x), out(w)}, add_up(), {&wait});
    CHECK(a.task.position.stream == wait.task.position.stream && b.task.position.stream != a.task.position.stream);
    CHECK_EQ(core.state().stream_waits, std::uint64_t{1});
    core.side().serve();
    CHECK(!wait.ended && !a.ended && !b.ended);
    held.end();
    core.finish();
    CHECK(all_are(z, 3));
    CHECK(all_are(w, 2));
}

/* An urgent one that comes later does not stand behind others. */
void urgent_ones_have_their_own_streams()
{
    auto options = Core::first_gpu();
    options.streams = 1;
    Core core(options);
    Held held;
    std::vector<float> x(64, 1), y(64, 2), z(64);
    const Node &waits = core.give({inout(x)}, held.task());
    const Node &behind = core.give({}, nothing);
    Node &urgent = core.give({inout(y)}, nothing, {}, {.priority = 1});
    core.end(core.give({in(y), in(y), out(z)}, add_up(), {&urgent}, {.priority = 2}));
    CHECK(!waits.ended && !behind.ended && urgent.ended);
    held.end();
    core.finish();
    CHECK(all_are(z, 4));
}

/* Whichever is ready first of those that nobody has come to yet. */
void in_the_order_of_the_program()
{
    Core core;
    std::vector<std::uint64_t> order;
    std::vector<Node *> nodes;
    for (unsigned i = 0; i < 8; i++)
        nodes.push_back(&core.made({}, [&, i](const tasks::Call &) { order.push_back(i); }));
    for (const unsigned i : {5, 2, 7, 0, 1, 6, 4, 3})
        core.ready(*nodes[i]);
    core.finish();
    CHECK((order == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

/* Of those that can begin, the first of the program; the urgent one first of all. */
void by_when_they_can_begin()
{
    struct Given {
        std::uint64_t number, ready;
        int priority;
    };
    std::deque<tasks::Task> all;
    tasks::ReadyList list;
    for (const Given &given : {Given{4, 0, 0}, {1, 3, 0}, {3, 0, 0}, {2, 1, 0}, {6, 9, 2}, {5, 7, 0}}) {
        tasks::Task &task = all.emplace_back();
        task.number = given.number;
        task.attributes.priority = given.priority;
        list.push({&task, given.ready}, 0);
    }
    const std::vector<std::pair<tasks::Estimate, std::uint64_t>> order{{0, 6}, {0, 3}, {1, 2}, {1, 4}, {1, 1}, {1, 5}};
    for (const auto &[free, number] : order) {
        CHECK_EQ(list.next(free).task->number, number);
        list.pop();
    }
    CHECK(list.empty());
}

/* Two that follow the same: one marker, and each stream waits for it once. */
void markers_are_shared()
{
    Core core;
    Held held;
    Node &wait = core.give({}, held.task());
    Node &behind = core.give({}, nothing, {&wait});
    std::vector<Node *> others;
    for (unsigned i = 0; i < 6; i++)
        others.push_back(&core.give({}, nothing, {&wait, &behind}));
    /* The first goes behind it; the others are on three streams, each of which waits once. */
    CHECK(others[0]->task.position.stream == wait.task.position.stream);
    CHECK_EQ(core.state().stream_waits, std::uint64_t{3});
    held.end();
    core.finish();
    for (const Node *other : others)
        CHECK(other->ended && !other->failure);
}

void what_has_ended_needs_no_wait()
{
    Core core;
    Node &first = core.give({}, nothing);
    core.end(first);
    Node &other = core.give({}, nothing);
    core.give({}, nothing, {&first, &other});
    CHECK_EQ(core.state().stream_waits, std::uint64_t{0});
}

void urgent_ones_first()
{
    Core core;
    std::vector<unsigned> order;
    for (unsigned i = 0; i < 4; i++)
        core.ready({}, [&order, i](const tasks::Call &) { order.push_back(i); }, {},
                   {.priority = static_cast<int>(i % 2)});
    core.finish();
    CHECK(order == std::vector<unsigned>({1, 3, 0, 2}));
}

/* More than streams may have at once: the rest is given as those end. */
void more_than_there_is_room_for()
{
    constexpr unsigned count = 3000;
    Core core;
    Held held;
    unsigned ran = 0;
    Node &wait = core.give({}, held.task());
    for (unsigned i = 0; i < count; i++)
        core.ready({}, [&](const tasks::Call &) { ran++; }, {&wait});
    while (core.side().serve())
        ;
    CHECK(ran < count);
    CHECK(core.side().is_busy());
    held.end();
    core.finish();
    CHECK_EQ(ran, count);
    CHECK_EQ(core.state().on_devices, std::uint64_t{count + 1});
}

/* Many threads serve at once, and bring tasks meanwhile. */
void many_threads_serve()
{
    constexpr unsigned threads = 4, each = 500;
    Core core;
    std::vector<float> x(64, 0), one(64, 1);
    std::atomic<unsigned> ran{0};
    tasks::Function function{
        0,       1,
        nullptr, nullptr,
        nullptr, [](void *ran, const tasks::Call &) {
                                 static_cast<std::atomic<unsigned> *>(ran)->fetch_add(1); }};
    struct Listener final : tasks::GpuListener {
        void given(tasks::Task &) override {}
        void ended(tasks::Task &, std::exception_ptr failure) override
        {
            CHECK(!failure);
            count++;
        }
        void release(tasks::Task &) override {}
        void is_home(tasks::Task &, std::exception_ptr) override {}
        void wake() override {}
        tasks::Trace *trace() override { return nullptr; }
        std::atomic<unsigned> count{0};
    } listener;
    auto side = tasks::GpuSide::make(Core::first_gpu(), listener);
    std::deque<tasks::Task> all(threads * each);
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; t++)
        workers.emplace_back([&, t] {
            for (unsigned i = 0; i < each; i++) {
                tasks::Task &task = all[t * each + i];
                task.function = &function;
                task.closure = &ran;
                task.own_accesses[0] = in(one);
                task.access_count = 1;
                side->ready(task);
                side->serve();
            }
            CHECK(comes_true([&] {
                side->serve();
                return listener.count == threads * each;
            }));
        });
    for (std::thread &worker : workers)
        worker.join();
    CHECK_EQ(ran.load(), threads * each);
    CHECK(!side->is_busy());
}

} // namespace

std::vector<tap::Case> test::order_cases()
{
    return {{"a task is given, and ends", a_task_ends},
            {"a chain needs no events", a_chain_needs_no_events},
            {"across streams, the GPU waits for the GPU", across_streams_they_wait},
            {"who waits for the same waits by the same marker, once", markers_are_shared},
            {"what has ended needs no wait", what_has_ended_needs_no_wait},
            {"urgent tasks go first", urgent_ones_first},
            {"urgent tasks have streams of their own", urgent_ones_have_their_own_streams},
            {"tasks are given in the order of the program", in_the_order_of_the_program},
            {"tasks are given by when they can begin", by_when_they_can_begin},
            {"more tasks than streams take at once", more_than_there_is_room_for},
            {"many threads serve", many_threads_serve}};
}
