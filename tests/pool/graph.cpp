// SPDX-License-Identifier: MIT
/* A pool as a device of graphs, beside the GPU whose memory it uses. */
#include "tests/pool/waiting.hpp"
#include <ptsched/device/residents.hpp>
#include <ptsched/pool/device.hpp>
#include <ptsched/ptask/graph.hpp>

#include <thread>

using namespace test;
using namespace std::chrono_literals;
namespace ptask = ptsched::ptask;

namespace {

using ptask::DatablockPtr;
using Slots = pool::TaskDevice<Multiply, Increment>;

constexpr unsigned length = 40; /* more than a block has threads */
const ptask::Template numbers = ptask::Template::of<int>(length);
const ptask::Template address = ptask::Template::of<unsigned long long>(1);

device::Device &gpu()
{
    return *device::gpus().at(0);
}

pool::Options graph_options()
{
    pool::Options options = options_for("graph_tasks");
    options.devices.clear();
    return options;
}

/* For most tests, since devices stay. */
const Slots &slots()
{
    static const Slots slots(gpu(), graph_options());
    return slots;
}

DatablockPtr numbers_from(int first)
{
    std::vector<int> values(length);
    for (unsigned i = 0; i < length; i++)
        values[i] = first + static_cast<int>(i);
    return ptask::Datablock::of(values);
}

/* Whether what is pulled are such numbers, times @by. */
bool pulls(ptask::Output &output, int first, int by = 1)
{
    const auto values = output.pull<int>();
    bool right = values.size() == length;
    for (unsigned i = 0; right && i < length; i++)
        right = values[i] == (first + static_cast<int>(i)) * by;
    return right;
}

ptask::Task &add_multiply(ptask::Graph &graph, const std::string &name, const Slots &on, int by)
{
    return graph.kernel(
        name,
        {{&on.device()}, on.kernel<&Multiply::x, &Multiply::y, &Multiply::n, &Multiply::by>(), "multiply", "slots"},
        {ptask::in("x", numbers), ptask::out("y", numbers), ptask::constant("n", length), ptask::constant("by", by)});
}

std::vector<ptask::PortOptions> increment_ports()
{
    return {ptask::inout("x", numbers), ptask::out("where", address), ptask::constant("n", length)};
}

ptask::Task &add_increment(ptask::Graph &graph, const std::string &name, const Slots &on)
{
    return graph.kernel(
        name, {{&on.device()}, on.kernel<&Increment::x, &Increment::where, &Increment::n>(), "increment", "slots"},
        increment_ports());
}

ptask::Task &add_launch(ptask::Graph &graph, const std::string &name)
{
    return graph.cuda(name, {folder() + "/pool-kernels.so", "increment_all", ptask::Geometry{{2, 1, 1}, {32, 1, 1}}},
                      increment_ports());
}

const ptask::DeviceCounters &counters_of(const std::vector<ptask::DeviceCounters> &all, const std::string &device)
{
    static const ptask::DeviceCounters none;
    for (const ptask::DeviceCounters &one : all)
        if (one.device == device)
            return one;
    CHECK(!"no such device");
    return none;
}

/* Many independent chains, of one task each of both kinds. */
void tiny_tasks()
{
    constexpr int chains = 6, rounds = 10;
    ptask::Graph graph;
    std::vector<ptask::Input *> inputs;
    std::vector<ptask::Output *> outputs;
    for (int i = 0; i < chains; i++) {
        ptask::Task &first = add_multiply(graph, "times " + std::to_string(i), slots(), i);
        ptask::Task &second = add_multiply(graph, "again " + std::to_string(i), slots(), 3);
        graph.connect(first["y"], second["x"]);
        inputs.push_back(&graph.input(first["x"]));
        outputs.push_back(&graph.output(second["y"]));
    }
    graph.run();
    const std::uint64_t before = slots().device().state().on_devices;
    for (int round = 0; round < rounds; round++)
        for (ptask::Input *input : inputs)
            input->push(numbers_from(round));
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < chains; i++)
            CHECK(pulls(*outputs[static_cast<unsigned>(i)], round, 3 * i));
    CHECK(graph.drain());
    CHECK_EQ(slots().device().state().on_devices - before, std::uint64_t{2 * chains * rounds});
    CHECK_EQ(counters_of(graph.counters(), slots().device().name()).runs, std::uint64_t{2 * chains * rounds});
}

/* Launches and slots in turn change one block, which stays where it is: nothing is copied in between. */
void mixed_with_launches()
{
    constexpr unsigned tasks = 6;
    ptask::Graph graph({.lower = ptask::Lower::never});
    std::vector<ptask::Task *> chain;
    std::vector<ptask::Output *> addresses;
    for (unsigned i = 0; i < tasks; i++) {
        const std::string name = std::to_string(i);
        chain.push_back(&(i % 2 ? add_increment(graph, "slot " + name, slots()) : add_launch(graph, "launch " + name)));
        if (i)
            graph.connect((*chain[i - 1])["x"], (*chain[i])["x"]);
        addresses.push_back(&graph.output((*chain[i])["where"]));
    }
    ptask::Input &x = graph.input((*chain.front())["x"]);
    ptask::Output &y = graph.output((*chain.back())["x"]);
    graph.run();
    for (int round = 0; round < 5; round++) {
        x.push(numbers_from(round));
        CHECK(pulls(y, round + static_cast<int>(tasks)));
        const unsigned long long first = addresses.front()->pull<unsigned long long>()[0];
        for (unsigned i = 1; i < tasks; i++)
            CHECK_EQ(addresses[i]->pull<unsigned long long>()[0], first);
    }
    const auto counters = graph.counters();
    const auto &on_slots = counters_of(counters, slots().device().name()),
               &on_gpu = counters_of(counters, gpu().name());
    CHECK(on_slots.blocks_migrated == 0 && on_slots.blocks_uploaded == 0 && on_slots.runs == 5 * tasks / 2);
    CHECK(on_gpu.blocks_migrated == 0 && on_gpu.runs == 5 * tasks / 2);
}

/* Launches on both sides of a slot, which become CUDA graphs. */
void between_cuda_graphs()
{
    constexpr int tasks = 7, middle = 3;
    ptask::Graph graph({.lower = ptask::Lower::always});
    ptask::Task *last = nullptr, *first = nullptr;
    std::vector<ptask::Output *> addresses;
    for (int i = 0; i < tasks; i++) {
        const std::string name = std::to_string(i);
        ptask::Task &task = i == middle ? add_increment(graph, "slot", slots()) : add_launch(graph, "launch " + name);
        if (last)
            graph.connect((*last)["x"], task["x"]);
        else
            first = &task;
        last = &task;
        addresses.push_back(&graph.output(task["where"]));
    }
    ptask::Input &x = graph.input((*first)["x"]);
    ptask::Output &y = graph.output((*last)["x"]);
    graph.run();
    for (int round = 0; round < 30; round++) {
        x.push(numbers_from(round));
        CHECK(pulls(y, round + tasks));
        for (ptask::Output *address : addresses)
            CHECK(address->pull());
    }
    graph.stop();
    const auto counters = graph.counters();
    CHECK_EQ(counters_of(counters, slots().device().name()).runs, 30u);
    CHECK(counters_of(counters, gpu().name()).lowered > 0);
}

/* One block for a launch and for a slot, each of which has a copy of its own to change. */
void one_block_for_both()
{
    ptask::Graph graph({.lower = ptask::Lower::never});
    ptask::Task &slot = add_increment(graph, "slot", slots()), &launch = add_launch(graph, "launch");
    ptask::Input &x = graph.input(slot["x"]);
    graph.connect(x, launch["x"]);
    ptask::Output &of_slot = graph.output(slot["x"]), &of_launch = graph.output(launch["x"]);
    ptask::Output &where_slot = graph.output(slot["where"]), &where_launch = graph.output(launch["where"]);
    graph.run();
    for (int round = 0; round < 10; round++) {
        const DatablockPtr block = numbers_from(round);
        x.push(block);
        CHECK(pulls(of_slot, round + 1) && pulls(of_launch, round + 1));
        CHECK(where_slot.pull<unsigned long long>()[0] != where_launch.pull<unsigned long long>()[0]);
        CHECK_EQ(block->as<int>()[0], round);
    }
}

/* The kernel leaves when there is nothing to do, and comes back. */
void parks_in_between()
{
    pool::Options options = graph_options();
    options.idle = 1ms;
    const Slots parking(gpu(), options);
    ptask::Graph graph;
    ptask::Task &task = add_increment(graph, "increment", parking);
    ptask::Input &x = graph.input(task["x"]);
    ptask::Output &y = graph.output(task["x"]);
    ptask::Output &where = graph.output(task["where"]);
    graph.run();
    for (int round = 0; round < 5; round++) {
        x.push(numbers_from(round));
        CHECK(pulls(y, round + 1));
        CHECK(where.pull());
        while (parking.device().state().parks != static_cast<std::uint64_t>(round + 1))
            std::this_thread::yield();
    }
    CHECK_EQ(parking.device().state().launches, std::uint64_t{5});
}

/* Without a graph: what a queue has comes in order, and its markers and those of the GPU are waited for. */
void a_queue_alone()
{
    device::Device &device = slots().device();
    const auto queue = device.make_queue(), other = device.make_queue(), gpu_queue = gpu().make_queue();
    const auto code = slots().kernel<&Increment::x, &Increment::where, &Increment::n>()(device);
    const std::size_t bytes = length * sizeof(int);
    device::Address x = device.allocate(bytes), where = device.allocate(sizeof(device::Address));
    std::vector<int> values(length, 1), result(length);
    unsigned n = length;
    const std::vector<void *> arguments{&x, &where, &n};

    CHECK(device::have_one_memory(device, gpu()) && !device::have_one_memory(device, device::host()));
    CHECK(queue->mark()->reached());
    queue->upload(x, values.data(), bytes);
    for (int i = 0; i < 10; i++)
        queue->run(*code, {}, arguments);
    queue->download(result.data(), x, bytes);
    queue->finish();
    CHECK(result == std::vector<int>(length, 11));
    /* Behind each other's work. */
    queue->run(*code, {}, arguments);
    other->after(queue->mark());
    other->run(*code, {}, arguments);
    gpu_queue->after(other->mark());
    gpu_queue->download(result.data(), x, bytes);
    gpu_queue->upload(x, values.data(), bytes);
    queue->after(gpu_queue->mark());
    queue->run(*code, {}, arguments);
    gpu_queue->finish();
    CHECK(result == std::vector<int>(length, 13));
    queue->download(result.data(), x, bytes);
    const device::MarkerPtr end = queue->mark();
    end->wait();
    CHECK(end->seen() && result == std::vector<int>(length, 2));
    device.release(x, bytes);
    device.release(where, sizeof(device::Address));
}

void stopped()
{
    const Slots stops(gpu(), graph_options());
    ptask::Graph graph;
    ptask::Task &task = add_increment(graph, "increment", stops);
    ptask::Input &x = graph.input(task["x"]);
    ptask::Output &y = graph.output(task["x"]), &where = graph.output(task["where"]);
    graph.run();
    x.push(numbers_from(0));
    CHECK(pulls(y, 1) && where.pull());
    stops.device().stop();
    CHECK(!stops.device().state().resident);
    CHECK(refused(
        [&] {
            x.push(numbers_from(0));
            y.pull();
        },
        {"task increment", "stopped"}));
}

/* Who waits for a task takes it that nothing is written any more when he is told that there is nothing to wait for. */
void stopped_while_busy()
{
    pool::Options options = options_for("mixed");
    options.devices.clear();
    const pool::TaskDevice<Square, Reverse, Wait, Add, Trap> stops(gpu(), options);
    const auto code = stops.kernel<&Wait::flag, &Wait::begun, &Wait::seen>()(stops.device());
    const auto queue = stops.device().make_queue();
    const auto square = stops.kernel<&Square::value, &Square::result, &Square::id>()(stops.device());
    Square nine{3, 0, 0};
    Waiting waiting;
    Wait task = waiting.task();
    queue->run(*code, {}, {&task.flag, &task.begun, &task.seen});
    waiting.wait_until_begun();
    const device::MarkerPtr marker = queue->mark();
    std::thread stops_it([&] { stops.device().stop(); });
    /* By then it is being stopped. Those that it took before are waited for by their queues. */
    std::vector<std::unique_ptr<device::Queue>> others;
    for (bool takes_more = true; takes_more;) {
        others.push_back(stops.device().make_queue());
        try {
            others.back()->run(*square, {}, {&nine.value, &nine.result, &nine.id});
        } catch (const pool::Error &) {
            takes_more = false;
        }
    }
    CHECK(!marker->reached());
    waiting.end();
    stops_it.join();
    CHECK(!stops.device().state().resident);
    /* The pool may have seen the end of that one in its last round, which had begun before the stop. */
    bool has_ended = false;
    CHECK(refused([&] { has_ended = (marker->wait(), true); }, {"stopped"}) || has_ended);
}

void what_cannot_be()
{
    auto options_refused = [](auto change, const std::vector<std::string> &words) {
        pool::Options options = graph_options();
        change(options);
        return refused([&] { Slots slots(gpu(), options); }, words);
    };
    CHECK(options_refused([](pool::Options &o) { o.devices = {&gpu()}; }, {"name devices", gpu().name()}));
    CHECK(options_refused([](pool::Options &o) { o.outputs = 2; }, {"outputs", "channels"}));
    CHECK(options_refused([](pool::Options &o) { o.priorities = 2; }, {"priorities"}));
    CHECK(options_refused([](pool::Options &o) { o.host_threads = 1; }, {"host_threads", "graph"}));
    CHECK(options_refused([](pool::Options &o) { o.threads = 33; }, {"multiple of 32"}));
    CHECK(refused([] { Slots slots(device::host(), graph_options()); }, {"no GPU", "device::gpus()"}));
    pool::SlotDevice &device = slots().device();
    CHECK(refused([&] { device.code(2, {}); }, {"kind is 2, and it has 2"}));
    CHECK(refused([&] { device.code(0, {{20, 8, true}}); }, {"parameter 0", "byte 20", "tasks of 24"}));
    const auto kernel = device::cuda_code(gpu(), folder() + "/pool-kernels.so", "increment_all");
    CHECK(refused([&] { device.make_queue()->run(*kernel, {}, {}); }, {device.name(), "TaskDevice::kernel()"}));
    ptask::Graph graph;
    CHECK(refused(
        [&] {
            graph.kernel("short", {{&device}, slots().kernel<&Multiply::x, &Multiply::y, &Multiply::n>(), "multiply"},
                         {ptask::in("x", numbers), ptask::out("y", numbers)});
        },
        {"task short", "kernel multiply", "8 8 4"}));
}

void faulty_task()
{
    ptask::Graph graph;
    ptask::Task &task = add_increment(graph, "increment", slots());
    ptask::Input &x = graph.input(task["x"]);
    ptask::Output &y = graph.output(task["x"]), &where = graph.output(task["where"]);
    graph.run();
    x.push(numbers_from(0));
    CHECK(pulls(y, 1) && where.pull());
    x.push(numbers_from(-1));
    CHECK(refused([&] { y.pull(); }, {"task increment", "a device has failed", "task 2 of output 0", "kind 1"}));
}

} // namespace

std::vector<tap::Case> test::graph_fault_cases()
{
    return {{"a graph's task that is at fault in a slot", faulty_task}};
}

std::vector<tap::Case> test::graph_cases()
{
    return {{"a graph of tiny tasks in slots", tiny_tasks},
            {"a graph of slots and launches, without copies", mixed_with_launches},
            {"a graph of slots between CUDA graphs", between_cuda_graphs},
            {"a block for a slot and a launch", one_block_for_both},
            {"a graph whose pool leaves in between", parks_in_between},
            {"a queue of slots keeps its order", a_queue_alone},
            {"a graph whose pool is stopped", stopped},
            {"a pool that is stopped while a task runs", stopped_while_busy},
            {"pools that cannot be devices, and code that does not fit", what_cannot_be}};
}
