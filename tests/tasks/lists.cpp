// SPDX-License-Identifier: MIT
/* Tasks with as many accesses as there happen to be. */
#include "tests/tasks/cases.hpp"

#include <numeric>

using namespace test;
using namespace ptsched::tasks;

namespace {

constexpr unsigned n = 64, count = 20;

std::vector<Access> read_each(const std::vector<std::vector<float>> &parts)
{
    std::vector<Access> accesses;
    for (const auto &part : parts)
        accesses.push_back(in(part));
    return accesses;
}

/* The sum comes after all that it reads, and before what is written there next. */
void on_the_host()
{
    Runtime tasks({.workers = 3});
    std::vector<std::vector<float>> parts(count, std::vector<float>(n));
    float sum = 0;
    std::vector<Access> accesses = read_each(parts);
    accesses.push_back(inout(sum));
    for (unsigned round = 1; round <= 10; round++) {
        for (auto &part : parts)
            tasks.host([round](float *to) { std::fill_n(to, n, static_cast<float>(round)); }, out(part));
        tasks.host(
            [&] {
                for (const auto &part : parts)
                    sum += part[n - 1];
            },
            accesses);
    }
    tasks.wait();
    CHECK_EQ(sum, 55.0F * count);
}

/* Each part was written on the GPU, and is where at() says. */
void on_a_gpu()
{
    Runtime tasks({.workers = 2, .devices = {device::gpus().at(0)}});
    const Kernel add = vector_add();
    std::vector<std::vector<float>> parts(count, std::vector<float>(n, 1));
    std::vector<float> sum(n);
    for (auto &part : parts)
        tasks.kernel({"double"}, add, one_block, inout(part), in(part), inout(part), n);
    std::vector<Access> accesses = read_each(parts);
    accesses.push_back(inout(sum));
    tasks.cuda(
        {"sum"},
        [&](Gpu &gpu) {
            float *to = gpu.at(sum.data());
            unsigned size = n;
            for (auto &part : parts) {
                float *from = gpu.at(part.data());
                add.run(gpu, one_block, {&to, &from, &to, &size});
            }
        },
        accesses);
    tasks.wait();
    CHECK_EQ(std::accumulate(sum.begin(), sum.end(), 0.0F), 2.0F * count * n);
}

void with_none()
{
    Runtime tasks({.workers = 2});
    bool ran = false;
    tasks.host([&] { ran = true; }, std::span<const Access>{});
    tasks.wait();
    CHECK(ran);
}

} // namespace

std::vector<tap::Case> test::list_cases()
{
    return {{"a list of accesses, on the host", on_the_host},
            {"a list of accesses, on a GPU", on_a_gpu},
            {"a list of accesses that has none", with_none}};
}
