// SPDX-License-Identifier: MIT
/* A kind of device that the library does not know: what device.hpp asks for is enough for a graph to use it. */
#include "tests/ptask/ptask_test.hpp"

#include <atomic>
#include <cstring>
#include <new>

namespace test {

namespace {

namespace device = ptsched::device;

/* Nobody else finds what is at an address of an abacus. */
constexpr device::Address elsewhere = device::Address{1} << 63;

std::byte *beads(device::Address address)
{
    return static_cast<std::byte *>(device::host_pointer(address ^ elsewhere));
}

/* y = factor * x, an integer for each thread. */
struct Multiplication : device::Code {
    std::optional<std::vector<std::size_t>> parameter_sizes() const override { return {{8, 8, 4}}; }

    void run(const Geometry &geometry, const std::vector<void *> &arguments) const
    {
        device::Address x, y;
        int factor;
        std::memcpy(&x, arguments[0], sizeof(x));
        std::memcpy(&y, arguments[1], sizeof(y));
        std::memcpy(&factor, arguments[2], sizeof(factor));
        for (unsigned i = 0; i < geometry.grid.x * geometry.block.x; i++) {
            int bead;
            std::memcpy(&bead, beads(x) + i * sizeof(bead), sizeof(bead));
            if (bead < 0)
                throw Error("an abacus has no negative numbers");
            bead *= factor;
            std::memcpy(beads(y) + i * sizeof(bead), &bead, sizeof(bead));
        }
    }
};

/* Whoever gives it work does it. */
class AbacusQueue final : public device::Queue {
public:
    explicit AbacusQueue(const device::Device &abacus) : abacus_(abacus) {}
    void upload(device::Address to, const void *from, std::size_t bytes) override
    {
        std::memcpy(beads(to), from, bytes);
    }
    void download(void *to, device::Address from, std::size_t bytes) override { std::memcpy(to, beads(from), bytes); }
    void copy(device::Address to, device::Device &source, device::Address from, std::size_t bytes) override
    {
        if (&source != &abacus_)
            Queue::copy(to, source, from, bytes);
        std::memcpy(beads(to), beads(from), bytes);
    }
    void run(const device::Code &code, const Geometry &geometry, const std::vector<void *> &arguments) override
    {
        dynamic_cast<const Multiplication &>(code).run(geometry, arguments);
    }
    void after(const device::MarkerPtr &marker) override { marker->wait(); }
    device::MarkerPtr mark() override { return std::make_shared<Reached>(); }

private:
    struct Reached final : device::Marker {
        bool reached() override { return true; }
        void wait() override {}
    };
    const device::Device &abacus_;
};

class Abacus final : public device::Device {
public:
    explicit Abacus(std::string name) : name_(std::move(name)) {}

    /* Bytes that were allocated and not released. */
    std::size_t used() const { return used_; }
    const std::string &name() const override { return name_; }
    device::Address allocate(std::size_t bytes) override
    {
        used_ += bytes;
        void *memory = ::operator new (bytes, std::align_val_t{device::allocation_alignment});
        return reinterpret_cast<std::uintptr_t>(memory) ^ elsewhere;
    }
    void release(device::Address address, std::size_t bytes) noexcept override
    {
        used_ -= bytes;
        ::operator delete (beads(address), std::align_val_t{device::allocation_alignment});
    }
    std::unique_ptr<device::Queue> make_queue() override { return std::make_unique<AbacusQueue>(*this); }
    device::Queue &outgoing() override { return outgoing_; }
    bool orders_others() const override { return true; }

private:
    const std::string name_;
    std::atomic<std::size_t> used_{0};
    AbacusQueue outgoing_{*this};
};

/* For good, as all devices are. What a test has used of them is released when it ends. */
struct Abaci {
    ~Abaci() { CHECK(!first.used() && !second.used()); }
    Abacus &first = only<0>("first"), &second = only<1>("second");

private:
    template <int> static Abacus &only(const char *name)
    {
        static Abacus &abacus = *new Abacus(name);
        return abacus;
    }
};

const Template four = Template::of<int>(4);
constexpr Geometry one_for_each{{1, 1, 1}, {4, 1, 1}};

DeviceKernel multiplication(std::vector<device::Device *> devices)
{
    auto make = [](device::Device &) { return std::make_unique<Multiplication>(); };
    return {std::move(devices), make, "multiply", "beads", one_for_each};
}

std::vector<PortOptions> multiplied_by(int factor)
{
    return {in("x", four), out("y", four), constant("factor", factor)};
}

/* Through both abaci and a GPU. */
void in_a_graph()
{
    Abaci abaci;
    Graph graph;
    Task &times3 = graph.kernel("times 3", multiplication({&abaci.first}), multiplied_by(3));
    Task &times2 = graph.kernel("times 2", multiplication({&abaci.second}), multiplied_by(2));
    Task &next =
        graph.cuda("next", {ptask_kernels(), "successor", one_for_each}, {inout("x", four), constant("n", 4u)});
    Task &again = graph.kernel("times 2 again", multiplication({&abaci.first}), multiplied_by(2));
    Input &x = graph.input(times3["x"]);
    graph.connect(times3["y"], times2["x"]);
    graph.connect(times2["y"], next["x"]);
    graph.connect(next["x"], again["x"]);
    Output &tripled = graph.output(times3["y"]), &y = graph.output(again["y"]);
    graph.run();
    for (int i = 0; i < 10; i++)
        x.push(block_of<int>({i, 1, 2, 3}));
    for (int i = 0; i < 10; i++) {
        CHECK(pulled<int>(tripled) == std::vector<int>({3 * i, 3, 6, 9}));
        CHECK(pulled<int>(y) == std::vector<int>({2 * (6 * i + 1), 14, 26, 38}));
    }
    graph.stop();
    for (const DeviceCounters &counters : graph.counters()) {
        if (counters.device == "first")
            CHECK_EQ(counters.runs, 20u);
        if (counters.device == "second")
            CHECK(counters.runs == 10 && counters.blocks_migrated == 10);
    }
    CHECK_EQ(times3.completed(), 10u);
}

/* Whichever is free takes a run. */
void several_devices()
{
    Abaci abaci;
    Graph graph({.mode = Mode::first_available});
    Task &task = graph.kernel("times 3", multiplication({&abaci.first, &abaci.second}), multiplied_by(3));
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    for (int i = 0; i < 10; i++) {
        x.push(block_of<int>({i, 0, 0, 1}));
        CHECK(pulled<int>(y) == std::vector<int>({3 * i, 0, 0, 3}));
    }
    graph.stop();
    CHECK_EQ(graph.counters().size(), 2u);
    for (const DeviceCounters &counters : graph.counters())
        CHECK(counters.runs > 0);
}

/* One whose blocks are to have fewer threads is left out where they have more, whenever that is said. */
void a_geometry_that_one_cannot_have()
{
    struct Small final : Multiplication {
        void prepare(const Geometry &geometry) const override
        {
            if (geometry.threads_of_block() > 2)
                throw Error("this abacus has two rods");
        }
    };
    Abaci abaci;
    DeviceKernel kernel = multiplication({&abaci.first, &abaci.second});
    kernel.make = [&](device::Device &abacus) -> std::unique_ptr<device::Code> {
        if (&abacus == &abaci.first)
            return std::make_unique<Small>();
        return std::make_unique<Multiplication>();
    };
    Graph graph({.mode = Mode::first_available});
    Task &at_once = graph.kernel("at once", kernel, multiplied_by(3));
    kernel.geometry = {{2, 1, 1}, {2, 1, 1}};
    Task &later = graph.kernel("later", kernel, multiplied_by(2));
    CHECK_EQ(later.devices().size(), std::size_t{2});
    later.set_geometry(one_for_each);
    for (const Task *task : {&at_once, &later})
        CHECK(task->devices() == std::vector<device::Device *>({&abaci.second}) &&
              has(task->left_out().at(0), "first: task " + task->name() + ": this abacus has two rods"));
    graph.connect(at_once["y"], later["x"]);
    Input &x = graph.input(at_once["x"]);
    Output &y = graph.output(later["y"]);
    graph.run();
    for (int i = 0; i < 4; i++) {
        x.push(block_of<int>({i, 1, 2, 3}));
        CHECK(pulled<int>(y) == std::vector({6 * i, 6, 12, 18}));
    }
}

/* What no thread writes is as in the initial block, which is copied there. */
void initial_blocks()
{
    Abaci abaci;
    Graph graph;
    PortOptions y = starting_with(out("y", Template::of<int>(6)), block_of<int>({0, 0, 0, 0, 7, 8}));
    Task &task = graph.kernel("times 3", multiplication({&abaci.first}), {in("x", four), y, constant("factor", 3)});
    Input &x = graph.input(task["x"]);
    Output &result = graph.output(task["y"]);
    graph.run();
    for (int i = 0; i < 3; i++) {
        x.push(block_of<int>({i, 1, 2, 3}));
        CHECK(pulled<int>(result) == std::vector<int>({3 * i, 3, 6, 9, 7, 8}));
    }
}

void what_fails()
{
    Abaci abaci;
    Graph graph;
    Task &task = graph.kernel("times 3", multiplication({&abaci.first}), multiplied_by(3));
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    x.push(block_of<int>({1, 1, -1, 1}));
    CHECK(refused([&] { y.pull(); }, {"times 3", "no negative numbers"}));
}

void code_is_shared()
{
    Abaci abaci;
    Graph graph;
    int made = 0;
    DeviceKernel kernel = multiplication({&abaci.first});
    kernel.make = [&](device::Device &) {
        made++;
        return std::make_unique<Multiplication>();
    };
    graph.kernel("one", kernel, multiplied_by(1));
    graph.kernel("two", kernel, multiplied_by(2));
    CHECK_EQ(made, 1);
    /* In constant memory, too, where that is no variable of the code. */
    Template table = four;
    table.binding = Binding::constant;
    graph.kernel("table", kernel, {sticky("x", table), out("y", four), constant("factor", 1)});
    CHECK_EQ(made, 1);
    kernel.program.clear();
    graph.kernel("three", kernel, multiplied_by(3));
    graph.kernel("four", kernel, multiplied_by(4));
    CHECK_EQ(made, 3);
}

void wrong_kernels()
{
    Abaci abaci;
    Graph graph;
    auto add = [&](const DeviceKernel &kernel) { graph.kernel("task", kernel, multiplied_by(3)); };
    auto making = [&](auto make) {
        DeviceKernel kernel = multiplication({&abaci.first});
        kernel.make = make;
        return kernel;
    };
    CHECK(refused([&] { add(multiplication({})); }, {"task task", "kernel multiply", "no device"}));
    CHECK(refused([&] { add(multiplication({nullptr})); }, {"task task", "a device that is null"}));
    CHECK(refused([&] { add(multiplication({&device::host()})); }, {"task task", "Graph::host()"}));
    CHECK(refused([&] { add(making(nullptr)); }, {"task task", "kernel multiply", "no function"}));
    CHECK(refused([&] { add(making([](device::Device &) { return nullptr; })); }, {"kernel multiply", "for first"}));
    CHECK(refused(
        [&] { add(making([](device::Device &) -> std::unique_ptr<device::Code> { throw Error("a wire is bent"); })); },
        {"task task", "a wire is bent"}));
    CHECK(refused(
        [&] {
            graph.kernel("short", multiplication({&abaci.first}), {in("x", four), out("y", four)});
        },
        {"task short", "kernel multiply", "8 8 4", "x 8 y 8"}));
}

} // namespace

Cases kind_cases()
{
    return {{"a kind of device of the program's own, in a graph", in_a_graph},
            {"several devices of a kind of the program's own", several_devices},
            {"a geometry that one device cannot have", a_geometry_that_one_cannot_have},
            {"initial blocks on a device of the program's own", initial_blocks},
            {"code of a kind of the program's own that fails", what_fails},
            {"tasks with the same program share their code", code_is_shared},
            {"what is wrong with a kernel of any kind is said", wrong_kernels}};
}

} // namespace test
