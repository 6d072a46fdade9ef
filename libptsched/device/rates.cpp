// SPDX-License-Identifier: MIT
#include "libptsched/base/lock.hpp"
#include "libptsched/device/cuda.hpp"
#include "libptsched/device/multiply_add.hpp"
#include <ptsched/base/chrono_clock.hpp>
#include <ptsched/device/allocation.hpp>
#include <ptsched/device/parallel.hpp>
#include <ptsched/device/rates.hpp>

#include <algorithm>
#include <cstring>
#include <map>

namespace ptsched::device {

namespace {

constexpr unsigned runs = 5;
constexpr std::size_t most_bytes = std::size_t{8} << 20, least_bytes = std::size_t{64} << 10;
constexpr unsigned threads_of_block = 256, kernel_rounds = 1024, host_rounds = 20000;

/* Of so much in so many seconds, which are not none. */
Rate rate_of(double amount, std::vector<double> seconds)
{
    constexpr double shortest = 1e-9;
    std::sort(seconds.begin(), seconds.end());
    auto per_second = [&](double time) { return amount / std::max(time, shortest); };
    return {per_second(seconds[seconds.size() / 2]), per_second(seconds.back()), per_second(seconds.front())};
}

double seconds_since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/*
 * What a queue does of @give, by the device's own clock where it has one. The first time is for what is not there yet.
 */
template <typename Give> Rate measured(Queue &queue, double amount, Give give)
{
    std::vector<double> seconds;
    give();
    queue.finish();
    for (unsigned i = 0; i < runs; i++) {
        const auto begin = Clock::now();
        const std::unique_ptr<Watch> watch = queue.watch();
        give();
        if (watch)
            watch->stop();
        queue.finish();
        const double took = watch ? watch->seconds() : 0;
        seconds.push_back(took > 0 ? took : seconds_since(begin));
    }
    return rate_of(amount, std::move(seconds));
}

/* The same of what the calling thread does. */
template <typename Work> Rate measured_here(double amount, Work work)
{
    std::vector<double> seconds;
    work();
    for (unsigned i = 0; i < runs; i++) {
        const auto begin = Clock::now();
        work();
        seconds.push_back(seconds_since(begin));
    }
    return rate_of(amount, std::move(seconds));
}

/* As large as there is memory for. */
Allocation some_of(Device &device)
{
    for (std::size_t bytes = most_bytes;; bytes /= 2)
        try {
            return Allocation::on_device(device, bytes);
        } catch (const OutOfMemory &) {
            if (bytes <= least_bytes)
                throw;
        }
}

Rate arithmetic_of(Device &device, Queue &queue)
{
    auto *gpu = dynamic_cast<CudaDevice *>(&device);
    const auto threads = device.most_threads();
    if (!gpu || !threads)
        return {};
    std::unique_ptr<Code> code;
    try {
        code = multiply_add::kernel(device);
    } catch (const Fault &) {
        throw;
    } catch (const Error &) {
        return {}; /* its driver does not compile it */
    }
    Address unwritten = 0;
    unsigned rounds = kernel_rounds;
    const auto blocks = static_cast<unsigned>(std::max<std::size_t>(*threads / threads_of_block, 1));
    const double operations =
        multiply_add::kernel_operations * kernel_rounds * static_cast<double>(blocks) * threads_of_block;
    return measured(queue, operations, [&] {
        queue.run(*code, {{blocks, 1, 1}, {threads_of_block, 1, 1}}, {&unwritten, &rounds});
    });
}

Rates measure(Device &device)
{
    Rates rates;
    auto queue = device.make_queue();
    const Allocation there = some_of(device), here = Allocation::pinned(there.bytes());
    const std::size_t bytes = there.bytes(), half = bytes / 2;
    std::memset(here.host_address(), 0, bytes);
    const auto amount = static_cast<double>(bytes);
    rates.to_device = measured(*queue, amount, [&] { queue->upload(there.address(), here.host_address(), bytes); });
    rates.to_host = measured(*queue, amount, [&] { queue->download(here.host_address(), there.address(), bytes); });
    /* Half of it is read and as much is written. */
    rates.memory =
        measured(*queue, amount, [&] { queue->copy(there.address() + half, device, there.address(), half); });
    rates.arithmetic = arithmetic_of(device, *queue);
    return rates;
}

Rates measure_host()
{
    Rates rates;
    const std::size_t bytes = 2 * most_bytes, half = bytes / 2;
    /* Not pinned: that is from the pool, and may be on any node. */
    const std::unique_ptr<char[]> memory(new char[bytes]);
    first_touch(memory.get(), half);
    first_touch(memory.get() + half, half);
    rates.memory = measured_here(static_cast<double>(bytes), [&] {
        parallel_for(half, [&](std::size_t begin, std::size_t end) {
            std::memcpy(memory.get() + half + begin, memory.get() + begin, end - begin);
        });
    });
    rates.to_device = rates.to_host = rates.memory;
    std::atomic<float> used{0};
    const unsigned all = host_processors();
    rates.arithmetic = measured_here(multiply_add::host_operations * host_rounds * all, [&] {
        parallel_for(all, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; begin++)
                used.store(multiply_add::on_host(host_rounds), std::memory_order_relaxed);
        });
    });
    return rates;
}

/* The results of measuring, each once; they stay. */
template <typename Key, typename Result> class Once {
public:
    template <typename Make> const Result &get(const Key &key, Make make)
    {
        Entry *entry;
        {
            Guard lock(mutex_);
            entry = &entries_[key];
        }
        Guard lock(entry->mutex);
        if (!entry->result)
            entry->result = make();
        return *entry->result;
    }

private:
    struct Entry {
        Mutex mutex;
        std::optional<Result> result PTSCHED_GUARDED_BY(mutex);
    };
    Mutex mutex_;
    std::map<Key, Entry> entries_ PTSCHED_GUARDED_BY(mutex_);
};

Rate measure_copy(Device &from, Device &to)
{
    auto queue = to.make_queue();
    const Allocation source = some_of(from), target = some_of(to);
    const std::size_t bytes = std::min(source.bytes(), target.bytes());
    return measured(*queue, static_cast<double>(bytes),
                    [&] { queue->copy(target.address(), from, source.address(), bytes); });
}

/* One after the other. */
Rate in_sequence(const Rate &a, const Rate &b)
{
    auto both = [](double x, double y) { return x > 0 && y > 0 ? 1 / (1 / x + 1 / y) : 0; };
    return {both(a.median, b.median), both(a.lowest, b.lowest), both(a.highest, b.highest)};
}

} // namespace

const Rates &rates_of(Device &device)
{
    static auto &known = *new Once<Device *, Rates>;
    return known.get(&device, [&] { return &device == &host() ? measure_host() : measure(device); });
}

Rate copy_rate(Device &from, Device &to)
{
    static auto &known = *new Once<std::pair<Device *, Device *>, Rate>;
    auto halved = [](const Rate &both) { return Rate{both.median / 2, both.lowest / 2, both.highest / 2}; };
    if (&from == &to)
        return halved(rates_of(to).memory);
    if (&from == &host())
        return rates_of(to).to_device;
    if (&to == &host())
        return rates_of(from).to_host;
    if (!to.reaches(from))
        return in_sequence(rates_of(from).to_host, rates_of(to).to_device);
    return known.get({&from, &to}, [&] { return measure_copy(from, to); });
}

} // namespace ptsched::device
