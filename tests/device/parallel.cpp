// SPDX-License-Identifier: MIT
/* Loops over what is on the host. */
#include "libptsched/base/lock.hpp"
#include "libptsched/device/nodes.hpp"
#include "tests/device/work.hpp"
#include "tests/ptask/child.hpp"
#include <ptsched/device/parallel.hpp>

#include <filesystem>
#include <set>

using namespace test;
using device::Chunks;
using device::Nodes;
using device::parallel_for;
using device::ParallelFor;

namespace {

using Ranges = std::set<std::pair<std::size_t, std::size_t>>;

Ranges ranges_of(std::size_t count, const ParallelFor &how)
{
    ptsched::Mutex mutex;
    Ranges ranges;
    parallel_for(
        count,
        [&](std::size_t begin, std::size_t end) {
            ptsched::Guard lock(mutex);
            CHECK(ranges.emplace(begin, end).second);
        },
        how);
    return ranges;
}

/* Whether they are all of 0 to @count, each once, and none but the last is shorter than @least. */
bool cover(const Ranges &ranges, std::size_t count, std::size_t least)
{
    std::size_t next = 0;
    for (const auto &[begin, end] : ranges) {
        if (begin != next || end <= begin || (end != count && end - begin < least))
            return false;
        next = end;
    }
    return next == count;
}

void all_of_it_once()
{
    for (std::size_t count : {0, 1, 2, 7, 100, 1001})
        for (std::size_t grain : {0, 1, 3, 64, 5000})
            for (Chunks chunks : {Chunks::equal, Chunks::dynamic}) {
                const Ranges ranges = ranges_of(count, {chunks, grain});
                CHECK(cover(ranges, count, std::min(grain, count)));
                if (chunks == Chunks::equal)
                    CHECK(ranges.size() <= device::host_processors());
            }
    CHECK(ranges_of(1001, {}) == ranges_of(1001, {}));
    CHECK_EQ(ranges_of(100, {Chunks::dynamic, 10}).size(), std::size_t{10});
    CHECK(refused([] { parallel_for(1, {}); }, {"empty function"}));
}

/* Of the type that was thrown, and the pool goes on. */
void what_a_body_throws()
{
    struct Own {
        std::size_t where;
    };
    for (Chunks chunks : {Chunks::equal, Chunks::dynamic}) {
        std::size_t where = 0;
        try {
            parallel_for(100,
                         [](std::size_t begin, std::size_t end) {
                             if (begin <= 50 && 50 < end)
                                 throw Own{50};
                         },
                         {chunks, 1});
        } catch (const Own &own) {
            where = own.where;
        }
        CHECK_EQ(where, std::size_t{50});
    }
    CHECK(cover(ranges_of(100, {}), 100, 1));
}

/* Loops in loops in loops, of which there are more than threads. */
void loops_in_loops()
{
    std::atomic<unsigned> done{0};
    auto nested = [&](auto &self, unsigned depth) -> void {
        parallel_for(8,
                     [&](std::size_t begin, std::size_t end) {
                         for (; begin < end; begin++)
                             if (depth)
                                 self(self, depth - 1);
                             else
                                 done++;
                     },
                     {Chunks::dynamic, 1});
    };
    nested(nested, 3);
    CHECK_EQ(done.load(), 8u * 8 * 8 * 8);
}

void in_functions_of_the_host()
{
    std::atomic<std::size_t> sum{0};
    auto code = device::host_code([&](const std::vector<void *> &) {
        parallel_for(1000, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
    });
    std::vector<std::unique_ptr<device::Queue>> queues;
    for (unsigned i = 0; i < 16; i++) {
        queues.push_back(device::host().make_queue());
        queues.back()->run(*code, {}, {});
    }
    for (auto &queue : queues)
        queue->finish();
    CHECK_EQ(sum.load(), std::size_t{16000});
}

/* In a process of its own, which may use one processor, and has no threads yet. */
void on_one_processor()
{
    const pid_t child = fork();
    if (!child) {
        cpu_set_t before, one;
        CPU_ZERO(&one);
        sched_getaffinity(0, sizeof(before), &before);
        for (int cpu = 0; !CPU_COUNT(&one); cpu++)
            if (CPU_ISSET(cpu, &before))
                CPU_SET(cpu, &one);
        bool good = sched_setaffinity(0, sizeof(one), &one) == 0;
        std::atomic<std::size_t> sum{0};
        parallel_for(1000, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
        cpu_set_t after;
        sched_getaffinity(0, sizeof(after), &after);
        good = good && sum == 1000 && CPU_EQUAL(&one, &after);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
}

/* Processors in a folder as the kernel's, two on each node, not in their order. */
class Machine {
public:
    Machine()
    {
        if (!mkdtemp(folder_.data()))
            throw std::runtime_error("no folder for a machine");
        for (int cpu = 0; cpu < 4; cpu++)
            std::filesystem::create_directories(folder_ + "/cpu" + std::to_string(cpu) + "/node" +
                                                std::to_string(cpu % 2 + 4));
    }
    ~Machine() { std::filesystem::remove_all(folder_); }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;
    Nodes nodes(std::initializer_list<int> cpus) const
    {
        cpu_set_t allowed;
        CPU_ZERO(&allowed);
        for (int cpu : cpus)
            CPU_SET(cpu, &allowed);
        return Nodes(allowed, folder_);
    }

private:
    std::string folder_ = "/tmp/nodes-XXXXXX";
};

void nodes_of_a_machine()
{
    Machine machine;
    const Nodes two = machine.nodes({0, 1, 2, 3}), one = machine.nodes({1, 3}), unknown = machine.nodes({7});
    CHECK_EQ(two.count(), 2u);
    CHECK_EQ(two.processors(), 4u);
    CHECK(CPU_ISSET(0, &two.processors_of(0)) && CPU_ISSET(2, &two.processors_of(0)));
    CHECK(CPU_ISSET(1, &two.processors_of(1)) && CPU_ISSET(3, &two.processors_of(1)));
    std::vector<unsigned> where;
    for (std::size_t part = 0; part < 8; part++)
        where.push_back(two.of_part(part, 8));
    CHECK((where == std::vector<unsigned>{0, 0, 0, 0, 1, 1, 1, 1}));
    CHECK(two.of_part(0, 2) == 0 && two.of_part(1, 2) == 1 && two.of_part(0, 1) == 0);
    CHECK(one.count() == 1 && one.processors() == 2);
    CHECK(unknown.count() == 1 && unknown.processors() == 1);
    CHECK(device::host_nodes() >= 1 && device::host_processors() >= device::host_nodes());
}

/* A thread goes where it may be, and nowhere else. */
void threads_on_nodes()
{
    Machine machine;
    cpu_set_t before, there, after;
    sched_getaffinity(0, sizeof(before), &before);
    const Nodes nodes = machine.nodes({0, 1, 2, 3});
    for (unsigned node : {0u, 1u}) {
        {
            const device::OnNode on(nodes, node);
            sched_getaffinity(0, sizeof(there), &there);
            cpu_set_t both;
            CPU_AND(&both, &before, &nodes.processors_of(node));
            CHECK(CPU_EQUAL(&there, CPU_COUNT(&both) ? &both : &before));
        }
        sched_getaffinity(0, sizeof(after), &after);
        CHECK(CPU_EQUAL(&before, &after));
    }
}

void memory_that_is_touched()
{
    std::vector<char> memory(100000, 'x');
    device::first_touch(memory.data(), memory.size());
    CHECK(std::all_of(memory.begin(), memory.end(), [](char c) { return !c; }));
    device::first_touch(nullptr, 0);
}

} // namespace

std::vector<tap::Case> test::parallel_cases()
{
    return {{"a loop does all once", all_of_it_once},
            {"what a loop's body throws", what_a_body_throws},
            {"loops in loops", loops_in_loops},
            {"loops in functions of the host", in_functions_of_the_host},
            {"a loop on one processor", on_one_processor, no_threads_in_children},
            {"nodes of a machine", nodes_of_a_machine},
            {"threads on nodes", threads_on_nodes},
            {"memory that is touched first", memory_that_is_touched}};
}
