// SPDX-License-Identifier: MIT
/* Several devices, and the host besides: where tasks run, and that contents follow them. */
#include "libptsched/tasks/gpu/distribution.hpp"
#include "libptsched/tasks/gpu/placement.hpp"
#include "tests/tasks/gpu/cases.hpp"

using namespace test;
using tasks::in, tasks::inout, tasks::out;
using namespace std::chrono_literals;

namespace {

tasks::Options both()
{
    tasks::Options options = Core::first_gpu();
    options.devices = device::gpus();
    return options;
}

OnGpu where(int &device, const OnGpu &then = nothing)
{
    return [&device, then](const tasks::Call &call) {
        device = call.device;
        then(call);
    };
}

/* Each in turn where it is told to: what one has written, the other reads. */
void contents_follow()
{
    Core core(both());
    std::vector<float> x(256, 1);
    std::vector<Node *> last;
    for (int i = 0; i < 8; i++) {
        int device = -1;
        last = {&core.give({inout(x), inout(x)}, where(device, add_up()), last, {.device = i % 2})};
        CHECK_EQ(device, i % 2);
    }
    core.finish();
    CHECK(all_are(x, 256));
    CHECK_EQ(core.state().bytes_to_devices, std::uint64_t{256 * sizeof(float)});
    CHECK_EQ(core.state().bytes_between, std::uint64_t{7 * 256 * sizeof(float)});
    CHECK_EQ(core.state().bytes_to_host, std::uint64_t{256 * sizeof(float)});
}

/* Both read it, one writes it, and both read it again: never an old one. */
void read_by_both()
{
    Core core(both());
    std::vector<float> x(256, 1), y(256), z(256);
    Node *write = nullptr;
    for (int round = 0; round < 5; round++) {
        std::vector<Node *> after;
        if (write)
            after = {write};
        Node &a = core.give({in(x), in(x), out(y)}, add_up(), after, {.device = 0});
        Node &b = core.give({in(x), in(x), out(z)}, add_up(), after, {.device = 1});
        write = &core.give({in(y), in(z), out(x)}, add_up(), {&a, &b}, {.device = round % 2});
    }
    core.finish();
    CHECK(all_are(x, 1024));
}

/* It is cheaper where the contents are. */
void by_contents()
{
    Core core(both());
    std::vector<float> x(1 << 18, 1), y(1 << 18, 1);
    int of_x = -1, of_y = -1;
    Node &first = core.give({inout(x), inout(x)}, add_up(), {}, {.device = 1});
    Node &second = core.give({inout(y), inout(y)}, add_up(), {}, {.device = 0});
    core.end(first);
    core.end(second);
    core.end(core.give({inout(x)}, where(of_x)));
    core.end(core.give({inout(y)}, where(of_y)));
    CHECK_EQ(of_x, 1);
    CHECK_EQ(of_y, 0);
    core.finish();
}

constexpr std::size_t enough = 16, many_bytes = 1 << 20;

/* Tasks that a distribution is asked for, with what they declare. */
class Distributed {
public:
    tasks::Task &add(const std::vector<tasks::Access> &accesses, const tasks::Attributes &attributes = {})
    {
        tasks::Task &task = make(accesses, attributes);
        distribution_.add(task);
        return task;
    }
    /* One that is to run there. */
    void expect(const std::vector<tasks::Access> &accesses, unsigned device)
    {
        directory_.expect(make(accesses, {}), device);
    }
    const tasks::Task *take(std::size_t device, std::array<std::size_t, 2> loads)
    {
        return distribution_.take(device, loads);
    }
    bool is_empty() const { return distribution_.is_empty(); }

private:
    tasks::Task &make(const std::vector<tasks::Access> &accesses, const tasks::Attributes &attributes)
    {
        tasks::Task &task = tasks_.emplace_back();
        task.number = tasks_.size();
        task.attributes = attributes;
        task.access_count = static_cast<std::uint32_t>(accesses.size());
        std::copy(accesses.begin(), accesses.end(), task.own_accesses);
        return task;
    }

    tasks::Arrays arrays_{device::gpus()};
    tasks::Directory directory_{arrays_, {{1e9, 1e9}, {0, 1e9, 1e9, 0}}};
    tasks::Distribution distribution_{directory_};
    std::deque<tasks::Task> tasks_;
};

/* Who has enough gets no more, unless that is urgent; what comes first in the program goes first. */
void by_load()
{
    Distributed tasks;
    const auto &first = tasks.add({}), &second = tasks.add({});
    CHECK(!tasks.take(0, {enough, enough}));
    CHECK(tasks.take(1, {enough, enough - 1}) == &first);
    const auto &urgent = tasks.add({}, {.priority = 1});
    CHECK(tasks.take(0, {enough, enough}) == &urgent);
    CHECK(!tasks.take(0, {enough, enough}));
    CHECK(tasks.take(0, {0, 0}) == &second);
    CHECK(tasks.is_empty());
}

/* One that would have to be copied there is passed over, as long as there is another, or something to do. */
void by_copies()
{
    Distributed tasks;
    std::vector<char> x(many_bytes);
    tasks.expect({in(x)}, 0);
    const auto &reads = tasks.add({in(x)}), &other = tasks.add({});
    CHECK(tasks.take(1, {0, 0}) == &other);
    CHECK(!tasks.take(1, {1, 1}));
    CHECK(tasks.take(1, {1, 0}) == &reads);
    /* It is on both now. */
    const auto &again = tasks.add({in(x)});
    CHECK(tasks.take(0, {1, 1}) == &again);
}

/* What is written somewhere stays there, until who has it has enough and somebody else has nothing. */
void by_owner()
{
    Distributed tasks;
    std::vector<char> x(16);
    tasks.expect({inout(x)}, 0);
    const auto &next = tasks.add({inout(x)});
    CHECK(!tasks.take(1, {1, 0}));
    CHECK(!tasks.take(1, {enough, 1}));
    CHECK(tasks.take(0, {1, 1}) == &next);
    const auto &last = tasks.add({inout(x)});
    CHECK(tasks.take(1, {enough, 0}) == &last);
    /* It has gone there. */
    tasks.add({inout(x)});
    CHECK(!tasks.take(0, {0, 1}));
}

/* Each version is tried; then it is the faster one, until that has more to do than it is faster. */
void on_the_host_or_a_gpu()
{
    tasks::Arrays arrays({device::gpus().at(0)});
    tasks::Directory directory(arrays, tasks::measure_rates({device::gpus().at(0)}));
    tasks::Placement placement(1, 1, directory);
    tasks::Function function{}, other{};
    tasks::Task task;
    task.function = &function;
    unsigned on_gpu = 0;
    for (unsigned i = 0; i < 4; i++)
        if (placement.prefers_gpu(task)) {
            on_gpu++;
            CHECK(placement.wants_measure(task));
            placement.ran_on_gpu(task, 1e-3);
        } else {
            placement.ran_on_host(task, 10ms);
        }
    CHECK_EQ(on_gpu, 2u);
    for (unsigned i = 0; i < 10; i++)
        CHECK(placement.prefers_gpu(task));
    /* It has ten before it there. */
    CHECK(!placement.prefers_gpu(task));
    /* Of another function, nothing is known yet. */
    task.function = &other;
    CHECK(placement.prefers_gpu(task));
    CHECK(!placement.prefers_gpu(task));
}

/* One that may run on either is measured where it runs. */
void runs_are_measured()
{
    Core core;
    std::vector<float> x(64, 1);
    Node &task = core.give({inout(x), inout(x)}, add_up());
    core.end(task);
    CHECK(!task.failure);
    Node &either = core.ready_either({inout(x), inout(x)}, add_up());
    core.end(either);
    CHECK(!either.failure);
    core.finish();
    CHECK(all_are(x, 4));
}

} // namespace

std::vector<tap::Case> test::device_cases()
{
    return {{"contents follow tasks from device to device", contents_follow},
            {"read by both, written by one", read_by_both},
            {"a task goes where its contents are", by_contents},
            {"devices have enough to do, and no more", by_load},
            {"a device has what needs the fewest copies", by_copies},
            {"what is written stays where it is", by_owner},
            {"of two versions, the one that is done first", on_the_host_or_a_gpu},
            {"a task of two versions is measured", runs_are_measured}};
}
