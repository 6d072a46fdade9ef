/* SPDX-License-Identifier: MIT */
#ifndef PTASK_TEST_HPP
#define PTASK_TEST_HPP

#include "tests/vgpu/daemon.h"
#include "tests/vgpu/refused.h"
#include "tests/vgpu/tap.h"
#include <ptsched/ptask/graph.hpp>

#include <algorithm>
#include <chrono>
#include <future>

namespace test {

using namespace ptsched::ptask;
using namespace std::chrono_literals;

inline std::string ptask_kernels()
{
    return folder() + "/ptask-kernels.so";
}

template <typename T> DatablockPtr block_of(const std::vector<T> &values)
{
    return Datablock::of(std::span(values));
}

template <typename T> std::vector<T> content(const DatablockPtr &block)
{
    if (!CHECK(block))
        return {};
    auto values = block->as<T>();
    return {values.begin(), values.end()};
}

template <typename T> std::vector<T> pulled(Output &output)
{
    return content<T>(output.pull());
}

inline std::shared_ptr<const std::string> text(const char *what)
{
    return std::make_shared<const std::string>(what);
}

inline bool has(const std::string &text, const std::string &part)
{
    bool found = text.find(part) != std::string::npos;
    if (!found)
        std::printf("# not there: %s\n# in: %s\n", part.c_str(), text.c_str());
    return found;
}

/* Of all devices. */
inline DeviceCounters sum_of(const Graph &graph)
{
    DeviceCounters sum;
    for (const DeviceCounters &one : graph.counters()) {
        sum.runs += one.runs;
        sum.lowered += one.lowered;
        sum.blocks_uploaded += one.blocks_uploaded;
        sum.bytes_uploaded += one.bytes_uploaded;
        sum.blocks_migrated += one.blocks_migrated;
        sum.bytes_migrated += one.bytes_migrated;
    }
    return sum;
}

/* What has ended may not be known at once. */
template <typename Condition> void until(Condition condition)
{
    while (!condition())
        std::this_thread::yield();
}

/* Adds 1 to four numbers, in "x", and says in "where" at what address. */
inline Task &add_increment(Graph &graph, const std::string &name)
{
    return graph.cuda(name, {ptask_kernels(), "increment", Geometry{{1, 1, 1}, {4, 1, 1}}},
                      {inout("x", Template::of<int>(4)), out("where", Template::of<void *>(1)), constant("n", 4u)});
}

/*
 * Tasks that are all the functions of the host that a graph may have at work, until they are pulled: what comes behind
 * them is put in order meanwhile. It is also done in that order if there is one plug; two functions may overtake each
 * other.
 */
class Plugs {
public:
    Plugs(Graph &graph, int priority, unsigned count)
    {
        std::shared_future<const char *> pulled(pulled_.get_future());
        auto wait = [=](const Arguments &) {
            if (const char *failure = pulled.get())
                throw Error(failure);
        };
        for (unsigned i = 0; i < count; i++) {
            Task &plug =
                *tasks.emplace_back(&graph.host("plug" + std::to_string(i), wait, {in("x", Template::of<int>(1))}));
            plug.set_priority(priority);
            graph.input(plug["x"]).push_value(0);
        }
    }
    void pull() { pulled_.set_value(nullptr); }
    void fail(const char *why) { pulled_.set_value(why); }
    std::vector<Task *> tasks;

private:
    std::promise<const char *> pulled_;
};

/* Until each has been given to a queue. */
inline void until_executing(const std::vector<Task *> &tasks)
{
    for (const Task *task : tasks)
        until([task] { return task->state() == State::executing; });
}

/* Until no device has it. */
inline void until_over(const Task &task)
{
    until([&task] { return task.state() != State::executing; });
}

using Cases = std::vector<tap::Case>;

Cases inout_cases();
Cases size_cases();
Cases loop_cases();
Cases signal_cases();
Cases state_cases();
Cases mode_cases();
Cases arbiter_cases();
Cases sharing_cases(); /* of one GPU */
Cases subgraph_memory_cases();
Cases life_cases();
Cases host_cases();
Cases own_thread_cases();
Cases draw_cases();
Cases lower_cases();
Cases lower_block_cases();
Cases batch_cases();
Cases constant_cases();
Cases kind_cases();
Cases content_cases();
Cases fitness_cases();
Cases image_cases();
Cases call_cases();
Cases type_cases();

} // namespace test

#endif /* PTASK_TEST_HPP */
