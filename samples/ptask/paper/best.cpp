// SPDX-License-Identifier: MIT
/*
 * As an expert writes it today: pinned memory, and of the ways to use streams, copy streams, CUDA graphs and several
 * runs at once the one that is the fastest for the program at hand.
 */
#include "samples/ptask/paper/by_hand.hpp"
#include "samples/ptask/paper/plan.hpp"

#include <algorithm>
#include <chrono>

namespace ptsched::paper {

namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned most_slots = 16, most_in_trial = 128;
constexpr std::size_t most_pinned = std::size_t{1} << 30; /* more at once makes nothing faster, and takes long to get */
constexpr std::chrono::milliseconds trial_budget{4};

struct Way {
    unsigned slots; /* runs at once */
    unsigned streams;
    bool own_copy_streams, graph;

    std::string name() const
    {
        return std::to_string(slots) + (slots == 1 ? " slot, " : " slots, ") + std::to_string(streams) +
               (streams == 1 ? " stream" : " streams") + (own_copy_streams ? " and two for copies" : "") +
               (graph ? ", graph" : "");
    }
};

/* The memory of one run. */
struct Room {
    Room(const Gpu &gpu, const Workload &workload, const Layout &layout, unsigned set)
        : buffers(gpu, workload, layout), in(workload.values.size()), out(workload.values.size()), set(set)
    {
        for (ValueId id = 0; id < workload.values.size(); id++)
            if (const Value &value = workload.values[id]; value.is_input())
                in[id] = make_pinned(value.bytes());
        write_inputs(workload);
        for (ValueId id = 0; id < workload.values.size() && workload.inputs_stay; id++)
            if (const Value &value = workload.values[id]; value.is_input())
                check(driver().upload(buffers.at(id), in[id].get(), value.bytes()), "cuMemcpyHtoD");
        for (ValueId id : workload.results) {
            out[id] = make_pinned(workload.values[id].bytes());
            results.push_back(static_cast<std::uint32_t *>(out[id].get()));
        }
    }

    void write_inputs(const Workload &workload) const
    {
        for (ValueId id = 0; id < workload.values.size(); id++)
            if (const Value &value = workload.values[id]; value.is_input())
                std::memcpy(in[id].get(), value.contents[set].data(), value.bytes());
    }

    Buffers buffers;
    std::vector<Pinned> in, out; /* by value */
    std::vector<const std::uint32_t *> results;
    unsigned set;
};

/* Runs one at a time in a room of its own. */
class Slot {
public:
    Slot(const Workload &workload, Room &room, const Plan &plan, bool graph, int priority)
        : workload_(workload), room_(room), plan_(plan)
    {
        for (unsigned i = 0; i <= plan.used.back(); i++)
            streams_.push_back(make_stream(priority));
        for (std::size_t i = 0; i < plan.events; i++)
            events_.push_back(make_event());
        if (graph)
            capture();
    }

    Room &room() const { return room_; }

    void begin()
    {
        if (exec_.get())
            check(driver().graph_launch(exec_.get(), streams_[0].get()), "cuGraphLaunch");
        else
            issue();
    }

    void wait()
    {
        if (exec_.get()) {
            check(driver().stream_synchronize(streams_[0].get()), "cuStreamSynchronize");
            return;
        }
        for (unsigned stream : plan_.ends)
            check(driver().stream_synchronize(streams_[stream].get()), "cuStreamSynchronize");
    }

private:
    void issue()
    {
        const Driver &d = driver();
        for (const Operation &operation : plan_.operations) {
            CUstream stream = streams_[operation.stream].get();
            std::size_t what = operation.what;
            switch (operation.kind) {
            case Operation::upload:
                check(d.upload_async(room_.buffers.at(what), room_.in[what].get(), workload_.values[what].bytes(),
                                     stream),
                      "cuMemcpyHtoDAsync");
                break;
            case Operation::launch:
                room_.buffers.launch(what, stream);
                break;
            case Operation::download:
                check(d.download_async(room_.out[what].get(), room_.buffers.at(what), workload_.values[what].bytes(),
                                       stream),
                      "cuMemcpyDtoHAsync");
                break;
            case Operation::record:
                check(d.event_record(events_[what].get(), stream), "cuEventRecord");
                break;
            case Operation::wait:
                check(d.stream_wait(stream, events_[what].get(), 0), "cuStreamWaitEvent");
                break;
            }
        }
    }

    void follow(unsigned after, unsigned before)
    {
        CUevent event = events_.emplace_back(make_event()).get();
        check(driver().event_record(event, streams_[before].get()), "cuEventRecord");
        check(driver().stream_wait(streams_[after].get(), event, 0), "cuStreamWaitEvent");
    }

    void capture()
    {
        CUgraph graph = nullptr;
        CUgraphExec exec = nullptr;
        check(driver().capture_begin(streams_[0].get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
        for (unsigned stream : plan_.used)
            if (stream)
                follow(stream, 0);
        issue();
        for (unsigned stream : plan_.used)
            if (stream)
                follow(0, stream);
        check(driver().capture_end(streams_[0].get(), &graph), "cuStreamEndCapture");
        CUresult result = driver().graph_instantiate(&exec, graph, 0);
        driver().graph_destroy(graph);
        check(result, "cuGraphInstantiate");
        exec_ = Exec(exec);
    }

    const Workload &workload_;
    Room &room_;
    const Plan &plan_;
    std::vector<Stream> streams_;
    std::vector<Event> events_;
    Exec exec_;
};

class Best final : public Executor {
public:
    Best(const Gpu &gpu, const Workload &workload, unsigned count, Means means, int priority)
        : gpu_(gpu), workload_(workload), priority_(priority), layout_(workload), outcome_(workload)
    {
        std::chrono::nanoseconds least = std::chrono::nanoseconds::max();
        auto ways = all_ways(count, means);
        Way best = ways.at(0);
        for (const Way &way : ways) {
            if (ways.size() == 1)
                break;
            use(way);
            auto time = trial(count);
            if (time < least) {
                least = time;
                best = way;
            }
        }
        use(best);
        next_ = 0;
    }

    /* Nothing uses the rooms now. */
    void prepare(unsigned count) override
    {
        for (std::size_t i = 0; i < std::min<std::size_t>(count, slots_.size()) && !workload_.inputs_stay; i++)
            slots_[(next_ + i) % slots_.size()]->room().write_inputs(workload_);
    }

    void run(unsigned count) override
    {
        std::size_t waiting = 0;
        for (unsigned i = 0; i < count; i++) {
            Slot &slot = *slots_[next_++ % slots_.size()];
            if (waiting == slots_.size() && !in_order()) {
                end(slot);
                waiting--;
            }
            slot.begin();
            waiting = std::min(waiting + 1, slots_.size());
            set_ = slot.room().set;
        }
        for (; waiting; waiting--)
            end(*slots_[(next_ - waiting) % slots_.size()]);
    }

    std::vector<Content> results() override
    {
        if (workload_.results_stay) {
            Room &room = slots_[(next_ - 1) % slots_.size()]->room();
            for (ValueId id : workload_.results)
                check(driver().download(room.out[id].get(), room.buffers.at(id), workload_.values[id].bytes()),
                      "cuMemcpyDtoH");
            outcome_.take(room.results);
        }
        return outcome_.contents();
    }

    unsigned last_set() const override { return set_; }
    std::string choice() const override { return way_.name(); }

private:
    /* Each slot has its set of inputs. */
    std::vector<Way> all_ways(unsigned count, Means means) const
    {
        std::vector<Way> ways;
        if (means == Means::in_turn || means == Means::ping_pong)
            return {{means == Means::in_turn ? 1u : 2u, 1, false, false}};
        for (unsigned slots : {workload_.sets, 4 * workload_.sets, 16 * workload_.sets}) {
            if (slots > workload_.sets && (slots > count || slots > most_slots || slots * pinned_bytes() > most_pinned))
                continue;
            for (unsigned streams : {1, 2, 4, 8})
                for (bool own : {false, true})
                    for (bool graph : {false, true})
                        if ((streams == 1 || streams <= workload_.steps.size()) && !(own && workload_.resident()) &&
                            (means == Means::any || graph == (means == Means::graph)))
                            ways.push_back({slots, streams, own, graph});
        }
        return ways;
    }

    /* Of a room. */
    std::size_t pinned_bytes() const
    {
        std::size_t bytes = 0;
        for (const Value &value : workload_.values)
            bytes += value.is_input() ? value.bytes() : 0;
        for (ValueId id : workload_.results)
            bytes += workload_.values[id].bytes();
        return bytes;
    }

    void use(const Way &way)
    {
        slots_.clear();
        way_ = way;
        plan_ = std::make_unique<Plan>(workload_, way.streams, way.own_copy_streams);
        while (rooms_.size() < way.slots) {
            auto set = static_cast<unsigned>(rooms_.size() % workload_.sets);
            rooms_.push_back(std::make_unique<Room>(gpu_, workload_, layout_, set));
        }
        for (unsigned i = 0; i < way.slots; i++)
            slots_.push_back(std::make_unique<Slot>(workload_, *rooms_[i], *plan_, way.graph, priority_));
        next_ = 0;
    }

    /* The time of some runs. */
    std::chrono::nanoseconds trial(unsigned count)
    {
        std::chrono::nanoseconds least = std::chrono::nanoseconds::max();
        auto end = Clock::now() + trial_budget;

        count = std::min(count, most_in_trial);
        run(std::min(count, 2 * way_.slots));
        for (unsigned i = 0; i < 2 || Clock::now() < end; i++) {
            auto start = Clock::now();
            run(count);
            least = std::min<std::chrono::nanoseconds>(least, Clock::now() - start);
        }
        return least;
    }

    /* Runs follow each other on one stream, and nobody looks at what they give. */
    bool in_order() const { return workload_.resident() && way_.streams == 1; }

    void end(Slot &slot)
    {
        slot.wait();
        if (!workload_.results_stay)
            outcome_.take(slot.room().results);
    }

    const Gpu &gpu_;
    const Workload &workload_;
    const int priority_;
    Layout layout_;
    std::vector<std::unique_ptr<Room>> rooms_;
    std::unique_ptr<Plan> plan_;
    std::vector<std::unique_ptr<Slot>> slots_;
    Way way_{};
    Outcome outcome_;
    std::size_t next_ = 0;
    unsigned set_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_best(const Gpu &gpu, const Workload &workload, unsigned count, Means means, int priority)
{
    return std::make_unique<Best>(gpu, workload, count, means, priority);
}

} // namespace ptsched::paper
