// SPDX-License-Identifier: MIT
/* How much memory a device has, for all processes together. */
#include "tests/vgpu/libcuda/link.h"
#include "tests/vgpu/test_libcuda.h"

#include <csignal>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {

namespace {

constexpr std::size_t mib = 1 << 20;

std::size_t available()
{
    std::size_t free = 0, total = 0;
    CU(cuMemGetInfo_v2(&free, &total));
    return free;
}

/* Another process that has taken all of a device's memory but so much. */
class Hoarder {
public:
    Hoarder(std::uint32_t device, std::uint64_t left)
    {
        int ready[2];
        char byte = 0;
        CHECK_EQ(pipe(ready), 0);
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            auto link = vgpu::open_link();
            vgpu_memory memory{device, VGPU_MEMORY_ASK, 0, 0, 0};
            bool ok = link && link->memory(memory) == 0;
            memory.op = VGPU_MEMORY_TAKE;
            memory.bytes = memory.total - memory.used - left;
            ok = ok && link->memory(memory) == 0 && write(ready[1], &byte, 1) == 1;
            if (ok)
                pause(); /* no signal but the one that ends it */
            _exit(1);
        }
        close(ready[1]);
        CHECK_EQ(read(ready[0], &byte, 1), 1);
        close(ready[0]);
    }
    ~Hoarder() { end(); }
    Hoarder(const Hoarder &) = delete;
    Hoarder &operator=(const Hoarder &) = delete;

    void end()
    {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        pid_ = -1;
    }

private:
    pid_t pid_ = -1;
};

void memory_of_all_processes()
{
    Context context;
    const std::size_t before = available();
    CUdeviceptr memory = 0, more = 0;

    Hoarder hoarder(0, 3 * mib);
    CHECK_EQ(available(), 3 * mib);
    CU_IS(cuMemAlloc_v2(&memory, 3 * mib + 1), CUDA_ERROR_OUT_OF_MEMORY);
    CU(cuMemAlloc_v2(&memory, 2 * mib));
    CHECK_EQ(available(), mib);
    CU_IS(cuMemAllocManaged(&more, 2 * mib, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);
    CU_IS(cuMemAllocAsync(&more, 2 * mib, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
    CU(cuMemFree_v2(memory));
    CU(cuMemAlloc_v2(&memory, 3 * mib));
    CHECK_EQ(available(), 0u);
    {
        /* The other device's is its own. */
        Context other(1);
        CHECK_EQ(available(), before);
    }
    CU(cuCtxSetCurrent(context.handle));
    CU(cuMemFree_v2(memory));
    /* What a dead process had comes back, once the device's host has heard of it. */
    hoarder.end();
    while (available() != before)
        sched_yield();
    CU(cuMemAlloc_v2(&memory, 4 * mib));
    CU(cuMemFree_v2(memory));
}

/* The host's account, by hand. */
void account_of_memory()
{
    auto link = vgpu::open_link();
    if (!CHECK(link))
        return;
    vgpu_info info{};
    vgpu_device_stats stats{};
    std::vector<vgpu_owner_stats> owners;
    CHECK_EQ(link->info(info), 0);
    vgpu_memory memory{1, VGPU_MEMORY_TAKE, info.memory_bytes, 0, 0};
    CHECK_EQ(link->memory(memory), 0);
    CHECK(memory.total == info.memory_bytes && memory.used == info.memory_bytes);
    memory.bytes = 1;
    CHECK_EQ(link->memory(memory), -ENOMEM);
    stats.device = 1;
    CHECK_EQ(link->stats(stats, owners), 0);
    CHECK(stats.memory_bytes == info.memory_bytes && stats.memory_used == info.memory_bytes);
    memory = {1, VGPU_MEMORY_GIVE_BACK, info.memory_bytes - 5, 0, 0};
    CHECK_EQ(link->memory(memory), 0);
    CHECK_EQ(memory.used, 5u);
    memory.bytes = 6;
    CHECK_EQ(link->memory(memory), -EINVAL);
    memory = {info.devices, VGPU_MEMORY_ASK, 0, 0, 0};
    CHECK_EQ(link->memory(memory), -ENODEV);
    memory = {0, 99, 0, 0, 0};
    CHECK_EQ(link->memory(memory), -EINVAL);
}

void memory_of_a_context()
{
    std::size_t before;
    {
        Context context;
        CUdeviceptr memory = 0;
        before = available();
        CU(cuMemAlloc_v2(&memory, mib));
        CU(cuMemAllocManaged(&memory, mib, CU_MEM_ATTACH_GLOBAL));
        CHECK_EQ(available(), before - 2 * mib);
    }
    Context context;
    CHECK_EQ(available(), before);
}

} // namespace

void add_capacity_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(), {
                                  {"a device's memory is for all processes", memory_of_all_processes},
                                  {"the account of memory", account_of_memory},
                                  {"a context's memory ends with it", memory_of_a_context},
                              });
}

} // namespace test
