// SPDX-License-Identifier: MIT
/* How components of a graph that compete share a device: as their priorities are to each other. */
#include "libptsched/ptask/devices/arbiter.hpp"

#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/devices/device_share.hpp"
#include "tests/ptask/ptask_test.hpp"

#include <array>
#include <deque>
#include <numeric>
#include <thread>

namespace test {

namespace {

namespace device = ptsched::device;
using ptsched::Clock;

constexpr std::size_t components = 4;
constexpr std::array<int, components> priorities = {2, 4, 6, 8};
constexpr double microsecond = 1e-6;

void do_nothing(const Arguments &) {}

/* As with the lock of a graph: it is not run, and nobody else is there. */
struct PTSCHED_SCOPED_CAPABILITY Alone {
    Alone() PTSCHED_ACQUIRE(graph_lock) {}
    ~Alone() PTSCHED_RELEASE() {}
};

/* Tasks that no channel joins, and what they got. */
struct Contest {
    explicit Contest(Mode mode = Mode::priority) : arbiter(mode, {})
    {
        for (std::size_t i = 0; i < components; i++)
            graph.host(std::to_string(i), do_nothing, {in("x", Template::of<int>(1))});
        arbiter.divide(GraphImpl::of(graph).tasks_);
    }
    void add(std::size_t i)
    {
        Alone alone;
        arbiter.add(impl(*graph.tasks()[i]), priorities[i], run_times[i], began);
    }
    /* The next one, which comes again. */
    std::size_t run()
    {
        const Task &task = next();
        std::size_t i = std::stoul(task.name());
        runs[i]++;
        total++;
        add(i);
        return i;
    }
    Task &next()
    {
        Alone alone;
        return arbiter.pop(began);
    }
    double share(std::size_t i) const { return double(runs[i]) / total; }

    Graph graph;
    Arbiter arbiter;
    std::array<double, components> run_times = {microsecond, microsecond, microsecond, microsecond};
    std::array<unsigned, components> runs = {};
    unsigned total = 0;
    Clock::time_point began = Clock::now() + 1h;
};

/* At any time, to within a run. */
void shares_of_priorities()
{
    for (Mode mode : {Mode::priority, Mode::data_aware}) {
        Contest contest(mode);
        for (std::size_t i = 0; i < components; i++)
            contest.add(i);
        double furthest = 0;
        for (unsigned run = 1; run <= 4000; run++) {
            contest.run();
            for (std::size_t i = 0; i < components; i++)
                furthest = std::max(furthest, std::abs(contest.runs[i] - run * priorities[i] / 20.0));
        }
        CHECK(furthest <= 2);
        for (std::size_t i = 0; i < components; i++)
            CHECK(std::abs(contest.share(i) - priorities[i] / 20.0) < 0.001);
    }
}

/* Whose runs take three times as long gets a third as many. */
void time_is_shared()
{
    Contest contest;
    contest.run_times = {30 * microsecond, 10 * microsecond, 30 * microsecond, 10 * microsecond};
    for (std::size_t i = 0; i < components; i++)
        contest.add(i);
    for (unsigned run = 0; run < 4000; run++)
        contest.run();
    double time = 0;
    for (std::size_t i = 0; i < components; i++)
        time += contest.runs[i] * contest.run_times[i];
    for (std::size_t i = 0; i < components; i++)
        CHECK(std::abs(contest.runs[i] * contest.run_times[i] / time - priorities[i] / 20.0) < 0.01);
}

/* What one does not use is the others' as they share anyway, and it cannot be claimed afterwards but for a little. */
void absence()
{
    Contest contest;
    contest.add(1);
    contest.add(2);
    for (unsigned run = 0; run < 10000; run++)
        contest.run();
    CHECK(std::abs(contest.share(1) - 0.4) < 0.001);
    CHECK(std::abs(contest.share(2) - 0.6) < 0.001);
    contest.add(3);
    unsigned at_once = 0;
    while (contest.run() == 3)
        at_once++;
    CHECK(at_once >= 1);
    CHECK(at_once <= 18);
}

void come_as_they_are()
{
    Contest contest(Mode::fifo);
    for (std::size_t i : {2, 0, 3, 1})
        contest.add(i);
    for (unsigned round = 0; round < 10; round++)
        for (std::size_t i : {2, 0, 3, 1})
            CHECK_EQ(contest.run(), i);
}

void weights()
{
    CHECK_EQ(weight_of(8), 8.0);
    CHECK_EQ(weight_of(1), 1.0);
    CHECK_EQ(weight_of(0), 0.5);
    for (int priority = -20; priority < 20; priority++) {
        CHECK(weight_of(priority) > 0);
        CHECK(weight_of(priority) < weight_of(priority + 1));
    }
}

/* What channels join is one component: its tasks have their order, whatever they are charged. */
void channels_join()
{
    Graph graph;
    auto one = Template::of<int>(1);
    Task &a = graph.host("a", do_nothing, {in("x", one), out("y", one)});
    Task &b = graph.host("b", do_nothing, {in("x", one)});
    Task &c = graph.host("c", do_nothing, {in("x", one)});
    graph.connect(a["y"], b["x"]);
    Arbiter arbiter(Mode::priority, {});
    Alone alone;
    arbiter.divide(GraphImpl::of(graph).tasks_);
    CHECK(&arbiter.of(impl(a)) == &arbiter.of(impl(b)));
    CHECK(&arbiter.of(impl(a)) != &arbiter.of(impl(c)));
}

/*
 * The whole of it: two plugs are at work, and no more may be, so that what the host was given was chosen before the
 * time of any run was known, and all runs count the same.
 */
void shares_of_a_graph()
{
    constexpr unsigned in_queues = 64, tokens = 40;
    auto one = Template::of<int>(1);
    std::array<std::atomic<unsigned>, components> runs = {};
    Graph graph({.mode = Mode::priority, .proxy_priority = 0, .host_functions = 2});
    Plugs plugs(graph, 1000, 2);

    std::vector<Input *> inputs;
    for (std::size_t i = 0; i < components; i++) {
        Task &task =
            graph.host("task" + std::to_string(i), [&runs, i](const Arguments &) { runs[i]++; }, {in("x", one)});
        task.set_priority(priorities[i]);
        inputs.push_back(&graph.input(task["x"], 2 * tokens));
        for (unsigned token = 0; token < tokens; token++)
            inputs.back()->push_value(0);
    }
    graph.run();
    until([&] { return graph.counters().at(0).runs >= in_queues; });
    std::thread stopper([&] { graph.stop(); });
    /* Blocks when its channel is full, until the graph takes nothing more: no other run begins. */
    while (inputs[0]->push_value(0)) {
    }
    plugs.pull();
    stopper.join();
    for (std::size_t i = 0; i < components; i++) {
        double share = (in_queues - plugs.tasks.size()) * priorities[i] / 20.0;
        std::printf("# priority %d: %u runs, %.1f to be\n", priorities[i], runs[i].load(), share);
        CHECK(std::abs(runs[i] - share) <= 1.5);
    }
}

/* Graphs whose thread always has a run to begin, and a device that ends them in their order. */
struct Crowd {
    explicit Crowd(const std::vector<double> &weights_of_all) : weights(weights_of_all), runs(weights.size())
    {
        for (std::size_t i = 0; i < weights.size(); i++)
            sharers.push_back(std::make_unique<DeviceShare>(*device::gpus().at(0), [this] { woken++; }));
    }
    void fill(std::size_t i)
    {
        while (in_queue.size() < 10 * DeviceShare::most && of(i) < depth) {
            if (!sharers[i]->may_begin())
                return;
            sharers[i]->begin(seconds, seconds / weights[i]);
            in_queue.push_back(i);
            longest = std::max(longest, in_queue.size());
        }
        if (of(i) == depth)
            sharers[i]->rest();
    }
    void end_one()
    {
        std::size_t i = in_queue.front();
        in_queue.pop_front();
        sharers[i]->ended(seconds);
        runs[i]++;
    }
    std::size_t of(std::size_t i) const
    {
        return static_cast<std::size_t>(std::count(in_queue.begin(), in_queue.end(), i));
    }

    std::vector<double> weights;
    std::vector<unsigned> runs;
    std::vector<std::unique_ptr<DeviceShare>> sharers;
    std::deque<std::size_t> in_queue;
    std::size_t longest = 0;
    double seconds = microsecond;
    std::size_t depth = SIZE_MAX; /* runs that each has at once, at most: its channels are that long */
    unsigned woken = 0;
};

/* What was the least long ago is forgotten. */
void the_least_of_late()
{
    Least least;
    CHECK_EQ(least.value(), 0.0);
    least.add(3);
    least.add(5);
    CHECK_EQ(least.value(), 3.0);
    for (int i = 0; i < 64; i++)
        least.add(7);
    CHECK_EQ(least.value(), 3.0);
    for (int i = 0; i < 64; i++)
        least.add(7);
    CHECK_EQ(least.value(), 7.0);
    CHECK_EQ(least.count(), 130u);
}

/* Their threads look at different times, and after different numbers of runs have ended. */
void graphs_share_devices()
{
    Crowd crowd({2, 4, 6, 8});
    constexpr unsigned rounds = 40000;
    for (std::size_t i = 0; i < crowd.sharers.size(); i++)
        crowd.fill(i);
    for (unsigned round = 0; round < rounds; round++) {
        crowd.end_one();
        for (std::size_t i = 0; i < crowd.sharers.size(); i++)
            if (round % (3 + 2 * i) == 0)
                crowd.fill(i);
        CHECK(!crowd.in_queue.empty());
    }
    CHECK_EQ(crowd.longest, std::size_t{DeviceShare::most});
    for (std::size_t i = 0; i < crowd.sharers.size(); i++) {
        double share = double(crowd.runs[i]) / rounds, linear = crowd.weights[i] / 20;
        std::printf("# weight %.0f: %.3f, %.3f to be\n", crowd.weights[i], share, linear);
        CHECK(std::abs(share - linear) < 0.03 * linear);
    }
}

/* Who has nothing, or does not look, keeps nobody waiting; alone, a graph is not bounded. */
void graphs_leave_devices()
{
    Crowd crowd({1, 100});
    crowd.fill(0);
    CHECK_EQ(crowd.in_queue.size(), std::size_t{DeviceShare::most});
    CHECK(!crowd.sharers[1]->may_begin());
    for (unsigned round = 0; round < 1000; round++) {
        crowd.end_one();
        crowd.fill(0);
        /* The other waits, and does not come. */
        CHECK(crowd.in_queue.size() >= DeviceShare::few);
    }
    CHECK(crowd.sharers[1]->may_begin());
    crowd.sharers[1]->leave();
    CHECK(crowd.sharers[0]->alone());
    crowd.fill(0);
    CHECK_EQ(crowd.in_queue.size(), std::size_t{10 * DeviceShare::most});
}

/*
 * Together they have no more than a device may have in any case: the most that each has at once still leaves some
 * that wait, unless runs are so short that a device would stand still.
 */
void few_runs_are_shared()
{
    for (double seconds : {100 * microsecond, 1000 * microsecond, 20000 * microsecond}) {
        Crowd crowd({1, 8});
        crowd.seconds = seconds;
        crowd.depth = 8;
        constexpr unsigned rounds = 9000;
        for (unsigned round = 0; round < rounds; round++) {
            crowd.fill(0);
            crowd.fill(1);
            CHECK(crowd.in_queue.size() >= DeviceShare::fewest);
            crowd.end_one();
        }
        CHECK(crowd.longest < DeviceShare::few);
        const double share = double(crowd.runs[1]) / rounds;
        std::printf("# runs of %.0f us: weight 8 gets %.3f\n", seconds / microsecond, share);
        CHECK(share > 0.85);
        CHECK(share < 0.93);
    }
}

/* Who was told to wait is told when that may be over; who has nothing is not. */
void sharers_are_woken()
{
    Crowd crowd({1, 1});
    crowd.seconds = 1000 * microsecond;
    crowd.fill(0);
    CHECK_EQ(crowd.woken, 0u);
    crowd.end_one();
    CHECK_EQ(crowd.woken, 0u);
    CHECK(!crowd.sharers[1]->may_begin());
    crowd.end_one();
    CHECK_EQ(crowd.woken, 1u);
    crowd.sharers[1]->rest();
    crowd.end_one();
    CHECK_EQ(crowd.woken, 1u);
}

void graphs_beside_each_other()
{
    std::vector<std::unique_ptr<Graph>> graphs;
    std::vector<std::thread> users;
    std::atomic<unsigned> right{0};
    for (int priority : priorities) {
        Graph &graph = *graphs.emplace_back(std::make_unique<Graph>());
        Task &task = graph.cuda("successor", {ptask_kernels(), "successor"},
                                {inout("x", Template::of<int>(1)), constant("n", 1u)});
        task.set_priority(priority);
        Input &x = graph.input(task["x"]);
        Output &y = graph.output(task["x"]);
        graph.run();
        users.emplace_back([&x, &y, &right] {
            for (int i = 0; i < 200; i++) {
                x.push_value(i);
                if (i >= 10 && pulled<int>(y).at(0) == i - 9)
                    right++;
            }
        });
    }
    for (std::thread &user : users)
        user.join();
    CHECK_EQ(right.load(), components * 190u);
}

/*
 * A graph that always has more to run than the device ends, and needs nobody who pushes or pulls. On the virtual GPU,
 * kernels of one process do not slow each other down: it is the queues that keep it.
 */
struct Greedy {
    explicit Greedy(int priority)
        : task(graph.cuda("spin", {kernels(), "spin"},
                          {inout("x", Template::of<unsigned>(1)), constant("ns", std::uint64_t{20000000}),
                           constant("iterations", 1u)}))
    {
        task.set_priority(priority);
        Input &x = graph.input(task["x"], most);
        for (std::size_t i = 0; i < most; i++)
            x.push_value(0u);
    }
    /* Until so many more have ended, without a hand in what is begun. */
    void wait(std::size_t runs)
    {
        for (; runs; runs--)
            y.pull(1h)->wait();
    }
    static constexpr std::size_t most = 16 * DeviceShare::most;
    Graph graph{{.proxy_priority = 0}};
    Task &task;
    Output &y{graph.output(task["x"], most)};
};

using Counts = std::array<std::uint64_t, components>;

std::uint64_t sum_of(const Counts &counts)
{
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/* What each has done when the last of them has done @runs more. */
Counts done_after(const std::vector<std::unique_ptr<Greedy>> &all, std::size_t runs)
{
    Counts done;
    all.back()->wait(runs);
    for (std::size_t i = 0; i < components; i++)
        done[i] = all[i]->task.completed();
    return done;
}

/*
 * Counted when what each had begun before all had come, or knew how long it takes, has ended. What each gets of real
 * time is the machine's to say as well, so it is told here; by hand, it is checked (graphs_share_devices).
 */
void graphs_with_priorities()
{
    constexpr Counts priority_of = {1, 2, 4, 8};
    std::vector<std::unique_ptr<Greedy>> all;
    for (std::uint64_t priority : priority_of)
        all.push_back(std::make_unique<Greedy>(static_cast<int>(priority)));
    /* Who is to have most comes first. */
    for (auto one = all.rbegin(); one != all.rend(); ++one)
        (*one)->graph.run();
    const Counts before = done_after(all, DeviceShare::most);
    Counts done = done_after(all, 2 * DeviceShare::most);
    for (std::size_t i = 0; i < components; i++)
        done[i] -= before[i];
    for (std::size_t i = 0; i < components; i++) {
        const double share = static_cast<double>(done[i]) / static_cast<double>(sum_of(done));
        const double linear = static_cast<double>(priority_of[i]) / static_cast<double>(sum_of(priority_of));
        std::printf("# priority %lu: %.3f, %.3f to be\n", priority_of[i], share, linear);
        CHECK(done[i] > 0);
    }
}

} // namespace

Cases arbiter_cases()
{
    return {{"components share as their priorities are to each other", shares_of_priorities},
            {"what is shared is time", time_is_shared},
            {"what a component does not use is the others'", absence},
            {"fifo knows no components", come_as_they_are},
            {"a higher priority weighs more", weights},
            {"channels join tasks to a component", channels_join},
            {"a graph's components share its queues", shares_of_a_graph},
            {"the least of late", the_least_of_late},
            {"graphs share a device as their priorities are to each other", graphs_share_devices},
            {"graphs that want nothing keep nobody waiting", graphs_leave_devices},
            {"so do graphs that have few runs at once", few_runs_are_shared},
            {"who waits for a device is woken", sharers_are_woken},
            {"graphs beside each other", graphs_beside_each_other}};
}

Cases sharing_cases()
{
    return {{"graphs beside each other all get runs, and how many", graphs_with_priorities}};
}

} // namespace test
