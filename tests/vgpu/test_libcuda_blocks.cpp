// SPDX-License-Identifier: MIT
/* Kernels whose threads and blocks wait for each other and for the host. */
#include "tests/vgpu/libcuda/link.h"
#include "tests/vgpu/test_libcuda.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <sched.h>
#include <thread>

namespace test {

namespace {

struct Blocks : Context {
    CUmodule blocks{};

    Blocks() { CU(cuModuleLoad(&blocks, (folder() + "/blocks.so").c_str())); }
    ~Blocks() { cuModuleUnload(blocks); }

    CUfunction function(const char *name) const
    {
        CUfunction found = nullptr;
        CU(cuModuleGetFunction(&found, blocks, name));
        return found;
    }
};

struct Shape {
    unsigned int blocks, threads;
    unsigned int shared_bytes = 0;
};

template <typename... Params> CUresult launch(CUfunction function, Shape shape, CUstream stream, Params... values)
{
    void *params[] = {&values..., nullptr};
    return cuLaunchKernel(function, shape.blocks, 1, 1, shape.threads, 1, 1, shape.shared_bytes, stream, params,
                          nullptr);
}

template <typename... Params> CUresult launch_together(CUfunction function, Shape shape, Params... values)
{
    void *params[] = {&values..., nullptr};
    return cuLaunchCooperativeKernel(function, shape.blocks, 1, 1, shape.threads, 1, 1, shape.shared_bytes, nullptr,
                                     params);
}

void shared_memory_of_a_launch()
{
    constexpr unsigned int blocks = 5, threads = 200;
    Blocks context;
    Pinned<unsigned int> in(blocks * threads), out(blocks * threads);

    std::iota(in.host, in.host + blocks * threads, 7u);
    CU(launch(context.function("reverse"), {blocks, threads, 4 * threads}, nullptr, in.device, out.device));
    CU(cuCtxSynchronize());
    for (unsigned int block = 0; block < blocks; block++) {
        const unsigned int *own = in.host + block * threads;
        CHECK(std::equal(own, own + threads, std::reverse_iterator(out.host + (block + 1) * threads)));
    }
}

void barriers()
{
    constexpr unsigned int blocks = 3;
    constexpr unsigned int shapes[][3] = {{1, 1, 1}, {2, 1, 1}, {37, 1, 1}, {8, 4, 3}, {16, 16, 1}};
    Blocks context;

    for (const auto &[x, y, z] : shapes) {
        const unsigned int threads = x * y * z;
        Pinned<unsigned int> in(blocks * threads), out(blocks);
        std::iota(in.host, in.host + blocks * threads, 1u);
        void *params[] = {&in.device, &out.device};
        for (int again = 0; again < 2; again++) {
            CU(cuLaunchKernel(context.function("block_sums"), blocks, 1, 1, x, y, z, 0, nullptr, params, nullptr));
            CU(cuCtxSynchronize());
            for (unsigned int block = 0; block < blocks; block++)
                CHECK_EQ(out.host[block],
                         std::accumulate(in.host + block * threads, in.host + (block + 1) * threads, 0u));
            std::fill_n(out.host, blocks, 0u);
        }
    }
}

void votes_of_a_block()
{
    constexpr unsigned int threads = 64;
    Blocks context;
    Pinned<unsigned int> out(3 * threads, 99);

    CU(launch(context.function("votes"), {1, threads}, nullptr, out.device));
    CU(cuCtxSynchronize());
    for (unsigned int t = 0; t < threads; t++) {
        const bool ended = t % 3 == 2;
        CHECK_EQ(out.host[3 * t], ended ? 99u : 22u);
        CHECK_EQ(out.host[3 * t + 1], ended ? 99u : 1u);
        CHECK_EQ(out.host[3 * t + 2], ended ? 99u : 0u);
    }
}

void lanes_of_a_warp()
{
    constexpr unsigned int threads = 56; /* 24 in the last */
    Blocks context;
    Pinned<unsigned int> out(8 * threads);

    CU(launch(context.function("warps"), {1, threads}, nullptr, out.device));
    CU(cuCtxSynchronize());
    for (unsigned int t = 0; t < threads; t++) {
        const unsigned int *own = out.host + 8 * t, lane = t % 32, first = t - lane, lanes = first ? 24 : 32;
        const unsigned int all = first ? 0xffffffu : 0xffffffffu;
        CHECK_EQ(own[0], first + 3);
        CHECK_EQ(own[1], lane ? t - 1 : t);
        CHECK_EQ(own[2], lane % 8 + 2 < 8 ? t + 2 : t);
        CHECK_EQ(own[3], t ^ 1);
        CHECK_EQ(own[4], 0xaaaaaaaau & all);
        CHECK_EQ(own[5], 0xfu << lane / 4 * 4);
        CHECK_EQ(own[6], lane < 16 ? first + 5 : lanes - 16);
        CHECK_EQ(own[7], 8 * (t / 8 * 8) + 28);
    }
}

void grid_barriers()
{
    constexpr unsigned int rounds = 3;
    Blocks context;

    for (const Shape shape : {Shape{1, 1}, Shape{7, 1}, Shape{1, 40}, Shape{24, 40}}) {
        Pinned<unsigned int> words(shape.blocks);
        std::vector<unsigned int> expected(shape.blocks);
        std::iota(expected.begin(), expected.end(), 1u);
        for (unsigned int round = 0; round < rounds; round++) {
            const unsigned int sum = std::accumulate(expected.begin(), expected.end(), 0u);
            for (unsigned int &word : expected)
                word += sum;
        }
        CU(launch_together(context.function("grid_rounds"), shape, words.device, rounds));
        CU(cuCtxSynchronize());
        CHECK(std::equal(expected.begin(), expected.end(), words.host));
    }
}

/* All blocks of a resident kernel answer in each round, though none of them gives the processor away. */
void resident_kernel()
{
    constexpr unsigned int blocks = 6, threads = 33, rounds = 4;
    Blocks context;
    Stream stream;
    Pinned<unsigned int> round(1), done(blocks), out(blocks);
    unsigned int sum = 0;

    CU(launch(context.function("serve"), {blocks, threads}, stream, round.device, done.device, out.device));
    for (unsigned int i = 1; i <= rounds; i++) {
        __atomic_store_n(round.host, i, __ATOMIC_RELEASE);
        for (unsigned int block = 0; block < blocks; block++)
            while (__atomic_load_n(&done.host[block], __ATOMIC_ACQUIRE) != i)
                sched_yield();
        sum += i * threads * (threads + 1) / 2;
        for (unsigned int block = 0; block < blocks; block++)
            CHECK_EQ(__atomic_load_n(&out.host[block], __ATOMIC_ACQUIRE), sum);
    }
    CU_IS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    __atomic_store_n(round.host, 0xffffffffu, __ATOMIC_RELEASE);
    CU(cuStreamSynchronize(stream));
}

void blocks_in_turn()
{
    constexpr unsigned int blocks = 20;
    Blocks context;

    for (const bool plain : {false, true}) {
        Pinned<unsigned int> flags(2 * blocks), order(1);
        CU(launch(context.function("last_first"), {blocks, 1}, nullptr, flags.device, order.device, plain));
        CU(cuCtxSynchronize());
        for (unsigned int block = 0; block < blocks; block++)
            CHECK_EQ(flags.host[blocks + block], blocks - 1 - block);
    }
}

void threads_in_turn()
{
    constexpr unsigned int threads = 100, times = 5;
    Blocks context;
    Pinned<unsigned int> turn(1), out(threads, 999), lock(1), count(1);

    CU(launch(context.function("last_thread_first"), {1, threads}, nullptr, turn.device, out.device));
    CU(cuCtxSynchronize());
    for (unsigned int t = 0; t < threads; t++)
        CHECK_EQ(out.host[t], threads - 1 - t);
    CU(launch(context.function("locked"), {4, threads}, nullptr, lock.device, count.device, times));
    CU(cuCtxSynchronize());
    CHECK_EQ(count.host[0], 4 * threads * times);
}

/* What it takes on the device is what its longest thread says, wherever that had to wait. */
void time_of_waiting_threads()
{
    Blocks context;
    auto link = vgpu::open_link();
    vgpu_info info{};
    vgpu_device_stats stats{};
    std::vector<vgpu_owner_stats> owners;

    if (!CHECK(link))
        return;
    CHECK_EQ(link->info(info), 0);
    CHECK_EQ(link->reset_stats(), 0);
    CU(launch(context.function("priced"), {3, 8}, nullptr));
    CU(cuCtxSynchronize());
    CHECK_EQ(link->stats(stats, owners), 0);
    std::uint64_t busy = 0;
    for (const auto &owner : owners)
        if (owner.pid == static_cast<std::uint32_t>(getpid()))
            busy = owner.busy_ns[0];
    CHECK_EQ(busy, 250000u * info.scale);
}

void room_on_the_device()
{
    Blocks context;
    CUfunction reverse = context.function("reverse"), rounds = context.function("grid_rounds");
    CUfunction sums = context.function("block_sums");
    Pinned<unsigned int> words(16 * 32 + 1);
    int blocks = 0, multiprocessors = 0, bytes = 0, min_grid = 0, block_size = 0;
    std::size_t dynamic = 0;
    const unsigned int once = 1;

    CU(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    for (const auto &[threads, shared, expected] :
         {std::array<int, 3>{1, 0, 32}, {64, 0, 32}, {65, 0, 31}, {1024, 0, 2}, {64, 10 << 10, 9}, {64, 48 << 10, 2}}) {
        CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, threads, static_cast<std::size_t>(shared)));
        CHECK_EQ(blocks, expected);
    }
    CU(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, sums));
    CHECK_EQ(bytes, 1024);
    CU(cuOccupancyAvailableDynamicSMemPerBlock(&dynamic, sums, 2, 64));
    CHECK_EQ(dynamic, std::size_t{47} << 10);
    CU_IS(cuOccupancyAvailableDynamicSMemPerBlock(&dynamic, sums, 3, 1024), CUDA_ERROR_INVALID_VALUE);
    CU(cuOccupancyMaxPotentialBlockSize(&min_grid, &block_size, sums, nullptr, 0, 0));
    CHECK(min_grid == 2 * multiprocessors && block_size == 1024);

    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 3, 0));
    const auto most = static_cast<unsigned int>(blocks * multiprocessors);
    CU_IS(launch_together(rounds, {most + 1, 3}, words.device, once), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    CU(launch_together(rounds, {most, 3}, words.device, once));
    CU(cuCtxSynchronize());
    CHECK_EQ(words.host[0], 1 + most * (most + 1) / 2);
    CU_IS(launch(reverse, {1, 1, 64 << 10}, nullptr, words.device, words.device), CUDA_ERROR_INVALID_VALUE);
}

/* Another process, since the driver ends with it. */
void trapped_grids()
{
    for (const char *role : {"trap_one", "wait_for_nobody"}) {
        const pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "vgpu_libcuda", "trapped", role, nullptr);
            _exit(127);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK_EQ(status, 0);
    }
}

} // namespace

int trapped_peer(const char *name)
{
    CU(cuInit(0));
    {
        Blocks context;
        Pinned<unsigned int> never(1);
        CU(launch_together(context.function(name), {5, 40}, never.device));
        CU_IS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    }
    std::fflush(stdout);
    _exit(tap::failed_here);
}

void add_block_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(), {
                                  {"shared memory of a launch", shared_memory_of_a_launch},
                                  {"barriers of blocks of every shape", barriers},
                                  {"votes, and threads that ended before", votes_of_a_block},
                                  {"lanes of a warp", lanes_of_a_warp},
                                  {"barriers of the grid", grid_barriers},
                                  {"a resident kernel of several blocks", resident_kernel},
                                  {"blocks that wait for later ones", blocks_in_turn},
                                  {"threads that wait for later ones, and locks", threads_in_turn},
                                  {"the time of threads that waited", time_of_waiting_threads},
                                  {"occupancy, and what is too large to run at once", room_on_the_device},
                                  {"a trap ends those who wait, and waiting in vain is one", trapped_grids},
                              });
}

} // namespace test
