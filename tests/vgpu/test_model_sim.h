/* SPDX-License-Identifier: MIT */
/* Clients of the engine in virtual time, with the host's costs as measured on the real machine. */
#ifndef VGPU_TEST_MODEL_SIM_H
#define VGPU_TEST_MODEL_SIM_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

extern "C" {
#include "tests/vgpu/engine/engine.h"
}

namespace sim {

constexpr uint64_t us = 1000;
constexpr uint64_t ms = 1000 * us;
constexpr uint64_t second = 1000 * ms;

/* Launch call, and what launch and synchronisation cost together. */
constexpr uint64_t launch_ns = 2700;
constexpr uint64_t launch_and_sync_ns = 7700;
constexpr uint64_t sync_ns = launch_and_sync_ns - launch_ns;
/* A thread that slept for tens of milliseconds launches that much later: what the wake-up rows have in common. */
constexpr uint64_t cold_launch_ns = 40 * us;

struct Device;

/* One process with one context: a compute group, and streams on it. */
struct Process {
    Device &device;
    vgpu_owner owner{};
    vgpu_group group{};
    vgpu_group copy_group{};
    struct Stream {
        vgpu_channel channel{};
        std::vector<vgpu_item> ring = std::vector<vgpu_item>(64);
        std::function<void(const vgpu_item &, uint64_t)> done;
    };
    std::vector<std::unique_ptr<Stream>> streams;

    explicit Process(Device &device);
    ~Process();
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    Stream &add_stream(uint32_t runlist = VGPU_COMPUTE);
    void set_slice(uint32_t slice_us);
};

/* The engine and the hosts' doings, in order of time. */
struct Device {
    vgpu_engine engine{};
    uint64_t now = 0;
    struct Event {
        uint64_t at;
        uint64_t order;
        std::function<void()> action;
        bool operator>(const Event &other) const { return at != other.at ? at > other.at : order > other.order; }
    };
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    uint64_t order = 0;

    explicit Device(uint32_t mode = VGPU_TIMESLICED, uint32_t scale = 1)
    {
        vgpu_engine_config config = vgpu_default_config;
        config.mode = mode;
        config.scale = scale;
        engine.private_data = this;
        vgpu_engine_init(&engine, &config, on_complete, 0);
    }

    void at(uint64_t time, std::function<void()> action) { events.push({time, order++, std::move(action)}); }

    void submit(Process::Stream &stream, uint64_t id, uint64_t cost)
    {
        vgpu_submit(&engine, &stream.channel, id, cost, nullptr, 0, now);
    }

    void run_until(uint64_t end)
    {
        for (;;) {
            uint64_t next = std::min(vgpu_advance(&engine, now), events.empty() ? VGPU_NEVER : events.top().at);
            if (next > end)
                break;
            now = next;
            vgpu_advance(&engine, now);
            while (!events.empty() && events.top().at <= now) {
                auto action = events.top().action;
                events.pop();
                action();
            }
        }
        now = end;
        vgpu_advance(&engine, now);
    }

    static void on_complete(vgpu_engine *, vgpu_channel *channel, const vgpu_item *item, uint64_t end)
    {
        auto *stream = static_cast<Process::Stream *>(channel->private_data);
        if (stream->done)
            stream->done(*item, end);
    }
};

inline Process::Process(Device &device) : device(device)
{
    vgpu_group_add(&device.engine, &group, &owner, VGPU_COMPUTE, device.now);
    vgpu_group_add(&device.engine, &copy_group, &owner, VGPU_COPY, device.now);
}

inline Process::~Process()
{
    for (auto &stream : streams)
        vgpu_channel_remove(&device.engine, &stream->channel, device.now);
    vgpu_group_remove(&device.engine, &group, device.now);
    vgpu_group_remove(&device.engine, &copy_group, device.now);
}

inline Process::Stream &Process::add_stream(uint32_t runlist)
{
    auto &stream = *streams.emplace_back(std::make_unique<Stream>());
    stream.channel.private_data = &stream;
    vgpu_channel_add(&device.engine, &stream.channel, runlist == VGPU_COMPUTE ? &group : &copy_group,
                     stream.ring.data(), static_cast<uint32_t>(stream.ring.size()), device.now);
    return stream;
}

inline void Process::set_slice(uint32_t slice_us)
{
    vgpu_group_set_slice(&device.engine, &group, slice_us, device.now);
}

/* Keeps `depth` kernels in flight; with a pause, sleeps that long after each. */
struct Client {
    Process process;
    Process::Stream &stream;
    uint64_t kernel_ns;
    std::function<uint64_t()> pause;
    uint64_t done = 0;
    std::vector<uint64_t> latencies;

    Client(Device &device, uint64_t kernel_ns, unsigned depth, std::function<uint64_t()> pause = {})
        : process(device), stream(process.add_stream()), kernel_ns(kernel_ns), pause(std::move(pause))
    {
        stream.done = [this](const vgpu_item &item, uint64_t end) { completed(item.id, end); };
        for (unsigned i = 0; i < depth; i++)
            launch(device.now + i * launch_ns, 0);
    }

    void launch(uint64_t call, uint64_t extra)
    {
        process.device.at(call + launch_ns + extra, [this, call] { process.device.submit(stream, call, kernel_ns); });
    }

    void completed(uint64_t call, uint64_t end)
    {
        uint64_t seen = end + sync_ns;

        done++;
        latencies.push_back(seen - call);
        if (pause)
            launch(seen + pause(), cold_launch_ns);
        else
            launch(seen, 0);
    }

    double percentile(double fraction)
    {
        if (latencies.empty())
            return 0;
        std::sort(latencies.begin(), latencies.end());
        return static_cast<double>(
                   latencies[static_cast<size_t>(fraction * static_cast<double>(latencies.size() - 1))]) /
               1e3;
    }
};

} // namespace sim

#endif /* VGPU_TEST_MODEL_SIM_H */
