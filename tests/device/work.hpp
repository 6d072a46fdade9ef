/* SPDX-License-Identifier: MIT */
/* Sums of datablocks on the virtual GPU, as work for the tests. */
#ifndef TEST_DEVICE_WORK_HPP
#define TEST_DEVICE_WORK_HPP

#include "tests/device/cases.hpp"
#include <ptsched/device/access.hpp>

#include <algorithm>

namespace test {

namespace device = ptsched::device;
using device::DatablockPtr;

inline device::Device &gpu()
{
    return *device::gpus().at(0);
}

/*
 * The first GPU with a driver that has only what it must have. Each keeps what the other may need: who uses it trims.
 */
device::Device &bare_gpu();

/* @bytes of floats of that value. */
inline DatablockPtr filled(float value, std::size_t bytes)
{
    const std::vector<float> values(bytes / sizeof(float), value);
    return device::Datablock::of(std::span(values));
}

inline bool holds(device::Datablock &block, float value)
{
    auto values = block.as<float>();
    return std::all_of(values.begin(), values.end(), [=](float one) { return one == value; });
}

/* One GPU with a queue and the kernel. */
class Adder {
public:
    explicit Adder(device::Device &gpu)
        : gpu(gpu), queue(gpu.make_queue()), code_(device::cuda_code(gpu, kernels(), "vector_add"))
    {
    }

    ~Adder() { finish(); }
    Adder(const Adder &) = delete;
    Adder &operator=(const Adder &) = delete;

    /* As long as the shorter. Keeps what it uses until it has been done. */
    DatablockPtr add(const DatablockPtr &a, const DatablockPtr &b)
    {
        DatablockPtr sum = device::Datablock::empty(std::min(a->bytes(), b->bytes()));
        auto n = static_cast<unsigned>(sum->bytes() / sizeof(float));
        const device::Access::Item items[] = {device::Access::reads(*a), device::Access::reads(*b),
                                              device::Access::writes(*sum)};
        device::Address addresses[3];
        device::Access access(gpu, *queue, items, addresses);
        run(access, addresses[0], addresses[1], addresses[2], n, {a, b, sum});
        return sum;
    }

    /* In place. */
    void add_to(const DatablockPtr &sum, const DatablockPtr &by)
    {
        const device::Access::Item items[] = {device::Access::changes(*sum), device::Access::reads(*by)};
        device::Address addresses[2];
        device::Access access(gpu, *queue, items, addresses);
        auto n = static_cast<unsigned>(sum->bytes() / sizeof(float));
        run(access, addresses[0], addresses[1], addresses[0], n, {sum, by});
    }

    /* Waits until no more than so many are left. */
    void finish(std::size_t left = 0)
    {
        while (given_.size() > left) {
            given_.front().marker->wait();
            given_.erase(given_.begin());
        }
    }

    device::Device &gpu;
    const std::unique_ptr<device::Queue> queue;

private:
    struct Given {
        device::MarkerPtr marker;
        std::vector<DatablockPtr> blocks;
    };

    void run(device::Access &access, device::Address a, device::Address b, device::Address sum, unsigned n,
             std::vector<DatablockPtr> blocks)
    {
        queue->run(*code_, {{(n + 255) / 256, 1, 1}, {256, 1, 1}}, {&a, &b, &sum, &n});
        auto marker = queue->mark();
        access.given(marker);
        given_.push_back({marker, std::move(blocks)});
        finish(8);
    }

    std::unique_ptr<device::Code> code_;
    std::vector<Given> given_;
};

/* Less memory for a GPU, as long as it lives. */
class Limit {
public:
    Limit(device::Device &gpu, std::size_t bytes) : gpu_(gpu) { gpu.limit_memory(bytes); }
    ~Limit() { gpu_.limit_memory(SIZE_MAX); }
    Limit(const Limit &) = delete;
    Limit &operator=(const Limit &) = delete;

private:
    device::Device &gpu_;
};

} // namespace test

#endif /* TEST_DEVICE_WORK_HPP */
