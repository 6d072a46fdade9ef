// SPDX-License-Identifier: MIT
/* Threads that share datablocks of all sizes on GPUs that have room for a few of them. */
#include "libptsched/base/lock.hpp"
#include "tests/device/work.hpp"

#include <random>
#include <thread>

using namespace test;

namespace {

constexpr std::size_t sizes[] = {1 << 10, 3 << 10, 8 << 10};
constexpr std::size_t room = 3 * (8 << 10); /* for the greatest work alone */

struct Known {
    DatablockPtr block;
    float value;
};

class Shared {
public:
    Shared()
    {
        for (std::size_t i = 0; i < 12; i++)
            known_.push_back(
                {filled(static_cast<float>(i % 4), sizes[i % std::size(sizes)]), static_cast<float>(i % 4)});
    }

    Known any(std::mt19937 &random)
    {
        ptsched::Guard lock(mutex_);
        return known_[random() % known_.size()];
    }

    void replace_any(std::mt19937 &random, Known by)
    {
        ptsched::Guard lock(mutex_);
        known_[random() % known_.size()] = std::move(by);
    }

    bool right()
    {
        ptsched::Guard lock(mutex_);
        bool all = true;
        for (const Known &one : known_)
            all = all && holds(*one.block, one.value);
        return all;
    }

private:
    ptsched::Mutex mutex_;
    std::vector<Known> known_ PTSCHED_GUARDED_BY(mutex_);
};

/* False if a value was wrong. */
bool work(Shared &shared, unsigned seed, int steps)
{
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<Adder>> adders;
    bool right = true;

    for (device::Device *gpu : device::gpus())
        adders.push_back(std::make_unique<Adder>(*gpu));
    for (int step = 0; step < steps; step++) {
        Known a = shared.any(random), b = shared.any(random);
        Known sum{adders[random() % adders.size()]->add(a.block, b.block), a.value + b.value};
        if (random() % 3 == 0) {
            adders[random() % adders.size()]->add_to(sum.block, a.block);
            sum.value += a.value;
        }
        if (sum.value > 1000)
            sum = {filled(1, sizes[random() % std::size(sizes)]), 1};
        if (random() % 4 == 0)
            right = right && holds(*sum.block, sum.value);
        shared.replace_any(random, sum);
    }
    for (auto &adder : adders)
        adder->finish();
    return right;
}

void threads_share_little_memory()
{
    std::vector<std::unique_ptr<Limit>> limits;
    for (device::Device *gpu : device::gpus())
        limits.push_back(std::make_unique<Limit>(*gpu, room));
    Shared shared;
    bool right[3] = {};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::size(right); i++)
        threads.emplace_back([&, i] { right[i] = work(shared, i, 150); });
    for (std::thread &thread : threads)
        thread.join();
    for (bool one : right)
        CHECK(one);
    CHECK(shared.right());
}

} // namespace

std::vector<tap::Case> test::stress_cases()
{
    return {{"threads that share little memory", threads_share_little_memory}};
}
