/* SPDX-License-Identifier: MIT */
/* What the tests of a runtime's GPU side share. */
#ifndef TEST_TASKS_GPU_CASES_HPP
#define TEST_TASKS_GPU_CASES_HPP

#include "libptsched/tasks/gpu/side.hpp"
#include "tests/comes_true.hpp"
#include "tests/host_flag.h"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/refused.h"
#include "tests/vgpu/tap.h"
#include <ptsched/device/allocation.hpp>
#include <ptsched/tasks/core.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <thread>

namespace test {

namespace tasks = ptsched::tasks;
namespace device = ptsched::device;

/* Of each file of this folder. */
std::vector<tap::Case> order_cases();
std::vector<tap::Case> content_cases();
std::vector<tap::Case> memory_cases();
std::vector<tap::Case> ahead_cases();
std::vector<tap::Case> device_cases();
std::vector<tap::Case> visit_cases();
std::vector<tap::Case> failure_cases();
/* For a process of its own, whose first argument is that. */
inline constexpr char fault_argument[] = "fault";
std::vector<tap::Case> fault_cases();

/* Of each virtual GPU, in bytes. */
constexpr std::size_t gpu_memory = 4 << 20;

using OnGpu = std::function<void(const tasks::Call &)>;

/* A task, and what was said of it. */
struct Node {
    tasks::Task task;
    OnGpu function;
    bool given = false, ended = false, is_home = false;
    unsigned releases = 0;
    std::exception_ptr failure;
};

/* In place of a runtime's core: it gives the side tasks in the order that tests want, and keeps what it says. */
class Core final : public tasks::GpuListener {
public:
    explicit Core(tasks::Options options = first_gpu()) : side_(tasks::GpuSide::make(options, *this)) {}
    ~Core() { finish(); }
    Core(const Core &) = delete;
    Core &operator=(const Core &) = delete;

    static tasks::Options first_gpu()
    {
        tasks::Options options;
        options.devices = {device::gpus().at(0)};
        options.streams = 4;
        return options;
    }

    /* Not ready yet. */
    Node &made(std::vector<tasks::Access> accesses, OnGpu function, const tasks::Attributes &attributes = {})
    {
        Node &node = make(std::move(accesses), attributes);
        node.function = std::move(function);
        return node;
    }
    void ready(Node &node)
    {
        readied_++;
        side_->ready(node.task);
    }
    /* Behind tasks that were given, it is ready; serve() gives it. */
    Node &ready(std::vector<tasks::Access> accesses, OnGpu function, const std::vector<Node *> &after = {},
                const tasks::Attributes &attributes = {})
    {
        Node &node = made(std::move(accesses), std::move(function), attributes);
        for (const Node *before : after) {
            tasks::Edge &edge = node.task.add_edge();
            edge.after = before->task.position;
        }
        ready(node);
        return node;
    }
    /* One that may run on the host, too, and is to run on a GPU. */
    Node &ready_either(std::vector<tasks::Access> accesses, OnGpu function)
    {
        Node &node = made(std::move(accesses), std::move(function));
        node.task.runs_on_host = true;
        ready(node);
        return node;
    }
    /* The first again, and it is given. */
    Node &give(std::vector<tasks::Access> accesses, OnGpu function, const std::vector<Node *> &after = {},
               const tasks::Attributes &attributes = {})
    {
        Node &node = ready(std::move(accesses), std::move(function), after, attributes);
        until([&] { return node.given || node.ended; });
        return node;
    }
    /* One of the host is about to run; when this returns, what it uses is there. */
    Node &host(std::vector<tasks::Access> accesses)
    {
        Node &node = make(std::move(accesses), {});
        node.is_home = side_->bring_home(node.task);
        until([&] { return node.is_home; });
        return node;
    }
    void end(const Node &node)
    {
        until([&] { return node.ended; });
    }
    /* Nothing is in flight, and all is on the host. */
    void finish()
    {
        until([&] { return ended_ == readied_; });
        until([&] { return side_->bring_home(nullptr); });
    }
    template <typename Condition> void until(Condition condition)
    {
        CHECK(comes_true([&] {
            if (condition())
                return true;
            side_->serve();
            return false;
        }));
    }

    tasks::GpuSide &side() { return *side_; }
    tasks::State state() const
    {
        tasks::State state;
        side_->count(state);
        return state;
    }
    std::atomic<unsigned> wakes{0};

private:
    void given(tasks::Task &task) override
    {
        task.given.end();
        node_of(task).given = true;
    }
    void ended(tasks::Task &task, std::exception_ptr failure) override
    {
        task.given.end();
        task.ended.end();
        ended_++;
        node_of(task).ended = true;
        node_of(task).failure = std::move(failure);
    }
    void release(tasks::Task &task) override { node_of(task).releases++; }
    void is_home(tasks::Task &task, std::exception_ptr failure) override
    {
        node_of(task).is_home = true;
        node_of(task).failure = std::move(failure);
    }
    void wake() override { wakes++; }
    tasks::Trace *trace() override { return nullptr; }

    Node &node_of(const tasks::Task &task) { return *static_cast<Node *>(task.closure); }
    Node &make(std::vector<tasks::Access> accesses, const tasks::Attributes &attributes)
    {
        static constexpr tasks::Function function{
            0,       1,       nullptr,
            nullptr, nullptr, [](void *node, const tasks::Call &call) { static_cast<Node *>(node)->function(call); }};
        Node &node = nodes_.emplace_back();
        node.task.attributes = attributes;
        node.task.number = nodes_.size();
        node.task.runs_on_gpu = true;
        node.task.function = &function;
        node.task.closure = &node;
        node.task.access_count = static_cast<std::uint32_t>(accesses.size());
        if (accesses.size() > tasks::Task::inline_accesses)
            node.task.accesses = new tasks::Access[accesses.size()];
        std::copy(accesses.begin(), accesses.end(), node.task.accesses);
        return node;
    }

    std::deque<Node> nodes_;
    std::size_t readied_ = 0, ended_ = 0; /* tasks of GPUs */
    std::unique_ptr<tasks::GpuSide> side_;
};

/* Gives a kernel of tests/vgpu/programs/kernels.cu. */
inline void launch(const tasks::Call &call, const char *kernel, unsigned threads, const std::vector<void *> &arguments)
{
    static auto &codes = *new std::map<std::pair<device::Device *, std::string>, std::unique_ptr<device::Code>>;
    auto &code = codes[{call.owner, kernel}];
    if (!code)
        code = device::cuda_code(*call.owner, kernels(), kernel);
    call.queue->run(*code, {{(threads + 63) / 64, 1, 1}, {64, 1, 1}}, arguments);
}

/* The last of what it uses becomes the sum of the first two; of floats, dense. */
inline OnGpu add_up()
{
    return [](const tasks::Call &call) {
        const tasks::Place *places = call.places;
        void *a = places[0].address, *b = places[1].address, *sum = places[call.accesses.size() - 1].address;
        auto n = static_cast<unsigned>(call.accesses.back().range.bytes() / sizeof(float));
        launch(call, "vector_add", n, {&a, &b, &sum, &n});
    };
}

inline void nothing(const tasks::Call &) {}

/* Lasts until the test raises the flag. */
class Held {
public:
    OnGpu task() const
    {
        return [](const tasks::Call &call) {
            static const auto &seen = *new device::Allocation(device::Allocation::pinned(sizeof(unsigned)));
            device::Address flag = HostFlag::address(), to = seen.address();
            launch(call, "wait_for_host", 1, {&flag, &to});
        };
    }
    void end() { flag_.raise(); }

private:
    HostFlag flag_;
};

inline bool all_are(std::span<const float> values, float value)
{
    return std::all_of(values.begin(), values.end(), [=](float one) { return one == value; });
}

} // namespace test

#endif /* TEST_TASKS_GPU_CASES_HPP */
