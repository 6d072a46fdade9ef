// SPDX-License-Identifier: MIT
/* What drivers may lack, and what kernels are asked about before they are launched. */
#include "libptsched/device/cuda.hpp"
#include "tests/device/work.hpp"

using namespace test;
using device::Driver;

device::Device &test::bare_gpu()
{
    static Driver driver = *Driver::get();
#define PTSCHED_DEVICE_FORGET(member, symbol) driver.member = nullptr;
    PTSCHED_DEVICE_DRIVER_OPTIONAL(PTSCHED_DEVICE_FORGET)
#undef PTSCHED_DEVICE_FORGET
    static device::Device &bare = *new device::CudaDevice(driver, 0);
    return bare;
}

namespace {

/* Who needs what is not there is told what that is, and what for. */
void what_is_missing_is_named()
{
    Driver old = *Driver::get();
    CHECK(old.need(&Driver::managed_alloc, "managed memory") == old.managed_alloc);
    old.managed_alloc = nullptr;
    old.memory_map = nullptr;
    CHECK(
        refused([&] { old.need(&Driver::managed_alloc, "managed memory"); }, {"managed memory", "cuMemAllocManaged"}));
    CHECK(refused([&] { old.need(&Driver::memory_map, "one address"); }, {"one address", "cuMemMap"}));
}

/* The sum of two vectors of @n, by @launch of a queue, as the kernel's first value. */
template <typename Launch> float sum_by(device::Device &gpu, unsigned n, Launch launch)
{
    auto queue = gpu.make_queue();
    auto a = filled(1, n * sizeof(float)), b = filled(2, n * sizeof(float));
    auto sum = device::Datablock::empty(n * sizeof(float));
    const device::Access::Item items[] = {device::Access::reads(*a), device::Access::reads(*b),
                                          device::Access::writes(*sum)};
    device::Address at[3];
    device::Access access(gpu, *queue, items, at);
    launch(*queue, std::vector<void *>{&at[0], &at[1], &at[2], &n});
    access.given(queue->mark());
    return sum->as<float>()[n - 1];
}

void a_driver_with_the_least()
{
    auto code = device::cuda_code(bare_gpu(), kernels(), "vector_add");
    const device::Geometry geometry{{1, 1, 1}, {64, 1, 1}};
    auto plain = [&](device::Queue &queue, const std::vector<void *> &arguments) {
        queue.run(*code, geometry, arguments);
    };
    auto together = [&](device::Queue &queue, const std::vector<void *> &arguments) {
        queue.run_cooperative(*code, geometry, arguments);
    };
    CHECK_EQ(sum_by(bare_gpu(), 64, plain), 3.0f);
    CHECK(!code->most_blocks(geometry));
    CHECK(!code->best_block(0));
    CHECK(refused([&] { sum_by(bare_gpu(), 64, together); }, {"cooperative", "cuLaunchCooperativeKernel"}));
    bare_gpu().trim(0);
}

void how_many_blocks_there_are_at_once()
{
    auto code = device::cuda_code(gpu(), kernels(), "vector_add");
    const auto few = code->most_blocks({{}, {1024, 1, 1}}), many = code->most_blocks({{}, {128, 1, 1}});
    if (!CHECK(few && many))
        return;
    CHECK_EQ(*few * 1024, *gpu().most_threads());
    CHECK_EQ(*many, 8 * *few);
    CHECK(code->most_blocks({{}, {128, 1, 1}, 48 << 10}) < many);
    CHECK(code->best_block(0) > 0u);
    auto host = device::host_code([](const std::vector<void *> &) {});
    CHECK(!host->most_blocks({{}, {128, 1, 1}}));
}

void blocks_that_are_there_together()
{
    constexpr unsigned block = 128;
    auto code = device::cuda_code(gpu(), kernels(), "vector_add");
    const auto most = static_cast<unsigned>(*code->most_blocks({{}, {block, 1, 1}}));
    auto launch = [&](unsigned blocks) {
        return [&code, blocks](device::Queue &queue, const std::vector<void *> &arguments) {
            queue.run_cooperative(*code, {{blocks, 1, 1}, {block, 1, 1}}, arguments);
        };
    };
    CHECK_EQ(sum_by(gpu(), most * block, launch(most)), 3.0f);
    CHECK(refused([&] { sum_by(gpu(), 64, launch(most + 1)); },
                  {"vector_add", std::to_string(most + 1) + " x 1 x 1", std::to_string(most)}));
    auto host = device::host_code([](const std::vector<void *> &) {});
    CHECK(refused([&] { device::host().make_queue()->run_cooperative(*host, {}, {}); }, {"cooperative"}));
    auto own = device::cuda_stream_code(gpu(), [](const device::StreamWork &) {});
    CHECK(refused([&] { gpu().make_queue()->run_cooperative(*own, {}, {}); }, {"cooperative"}));
}

} // namespace

std::vector<tap::Case> test::driver_cases()
{
    return {{"what a driver lacks is named", what_is_missing_is_named},
            {"a driver that has only what it must have", a_driver_with_the_least},
            {"how many blocks a device has at once", how_many_blocks_there_are_at_once},
            {"blocks that are there together", blocks_that_are_there_together}};
}
