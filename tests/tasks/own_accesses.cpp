// SPDX-License-Identifier: MIT
/* What one task declares of the same bytes more than once. */
#include "tests/tasks/cases.hpp"
#include "tests/vgpu/refused.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>

using namespace test;
using namespace ptsched::tasks;

namespace {

constexpr unsigned few = 64, many = 1U << 16;

/* A child uses a part of what its maker has declared in several ways, whichever comes first. */
void weak_beside_others()
{
    std::vector<int> x(100, 0);
    const auto ran = [&](std::vector<Access> accesses) {
        Runtime tasks({.workers = 2});
        bool has_run = false;
        tasks.host(
            {.name = "outer"}, [&] { tasks.host([&](int *) { has_run = true; }, inout(&x[50], 10)); }, accesses);
        tasks.wait();
        return has_run;
    };
    CHECK(ran({in(&x[0], 1), weak_inout(x)}));
    CHECK(ran({weak_inout(x), in(&x[0], 1)}));
    CHECK(ran({weak_in(x), weak_inout(&x[50], 10)}));
    CHECK(ran({weak_inout(x), weak_inout(x)}));
}

void a_reduction_is_alone()
{
    Runtime tasks({.workers = 2});
    std::array<int, 4> x{};
    const std::string beside = "of the same bytes";
    CHECK(refused([&] { tasks.host([](int *, const int *) {}, reduction<Sum>(x), in(x)); }, {beside}));
    CHECK(refused([&] { tasks.host([](int *, int *) {}, reduction<Sum>(x), reduction<Product>(x)); }, {beside}));
    CHECK(refused([&] { tasks.host([](int *, int *) {}, reduction<Sum>(x), reduction<Sum>(&x[1], 2)); }, {beside}));
    CHECK(refused([&] { tasks.host([] {}, std::vector<Access>{reduction<Sum>(x)}); }, {"in a list"}));
    tasks.host([](int *sums) { ++sums[2]; }, reduction<Sum>(x));
    tasks.wait();
    CHECK_EQ(x[2], 1);
}

/* As after any other task that has failed. */
void nobody_reads_a_reduction_that_has_failed()
{
    Runtime tasks({.workers = 2});
    int x = 0;
    bool ran = false;
    tasks.host([](int *) { throw std::runtime_error("no luck"); }, reduction<Sum>(x));
    CHECK(comes_true([&] { return tasks.state().live == 0; }));
    tasks.host([&](const int *) { ran = true; }, in(x));
    CHECK(refused([&] { tasks.wait(); }, {"has failed"}));
    CHECK(!ran);
}

/* What a GPU has written is read and written over by a task of the host. */
void in_place_on_the_host()
{
    Runtime tasks({.workers = 2});
    const Kernel add = vector_add();
    std::vector<float> x(few, 1), y(few, 1);
    for (auto *each : {&x, &y})
        tasks.kernel({"double"}, add, one_block, inout(*each), in(*each), inout(*each), few);
    tasks.host(
        [](const float *from, float *to) { std::transform(from, from + few, to, [](float v) { return v + 10; }); },
        in(x), out(x));
    tasks.host([](const float *some, float *to) { std::fill_n(to, few, *some + 10); }, in(y.data(), 4), out(y));
    tasks.wait();
    CHECK(x[5] == 12 && y[5] == 12);
}

void in_place_on_a_gpu()
{
    Runtime tasks({.workers = 2});
    const Kernel add = vector_add();
    std::vector<float> one(few, 1);
    for (const bool is_written_first : {false, true}) {
        std::vector<float> x(few, 3);
        std::vector<Access> accesses{in(x), out(x), in(one)};
        if (is_written_first)
            std::swap(accesses[0], accesses[1]);
        tasks.cuda(
            {"add one"},
            [&](Gpu &gpu) {
                float *a = gpu.at(x.data()), *b = gpu.at(one.data());
                unsigned n = few;
                add.run(gpu, one_block, {&a, &b, &a, &n});
            },
            accesses);
        tasks.wait();
        CHECK_EQ(x[5], 4.0F);
    }
}

/* What is copied ahead of a task is what nobody writes before that. */
void twice_what_is_written_before()
{
    Runtime tasks({.workers = 3, .devices = {device::gpus().at(0)}});
    const Kernel add = vector_add();
    std::vector<float> other(few, 1);
    for (const int kind : {0, 1, 2}) {
        auto x = tasks.array<float>(many);
        std::ranges::fill(x, 1.0F);
        std::atomic<bool> begun{false}, go{false};
        tasks.host(
            [&](float *to) {
                begun = true;
                CHECK(comes_true([&] { return go.load(); }));
                std::fill_n(to, many, 5.0F);
            },
            inout(x));
        CHECK(comes_true([&] { return begun.load(); }));
        std::vector<Access> accesses{inout(x), in(x)};
        if (kind)
            accesses =
                kind == 1 ? std::vector<Access>{inout(x), inout(x)} : std::vector<Access>{in(x), in(x), inout(x)};
        tasks.cuda(
            {"double"},
            [&](Gpu &gpu) {
                float *a = gpu.at(x.data());
                unsigned n = few;
                add.run(gpu, one_block, {&a, &a, &a, &n});
            },
            accesses);
        /* Who gives this one looks for what can be copied ahead. */
        tasks.kernel({"other"}, add, one_block, inout(other), in(other), inout(other), few);
        tasks.wait(in(other));
        go = true;
        tasks.wait();
        CHECK_EQ(x[5], 10.0F);
    }
}

} // namespace

std::vector<tap::Case> test::own_access_cases()
{
    return {{"weak accesses beside others of the same bytes", weak_beside_others},
            {"a reduction beside others of the same bytes is refused", a_reduction_is_alone},
            {"nobody reads a reduction that has failed", nobody_reads_a_reduction_that_has_failed},
            {"in and out of the same bytes, on the host", in_place_on_the_host},
            {"in and out of the same bytes, on a GPU", in_place_on_a_gpu},
            {"the same bytes twice, which another writes before", twice_what_is_written_before}};
}
