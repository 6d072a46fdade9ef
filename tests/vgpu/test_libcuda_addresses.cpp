// SPDX-License-Identifier: MIT
/* One address, two memories: kernels that have an address space of their own. */
#include "tests/vgpu/test_libcuda.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {

namespace {

constexpr std::size_t piece = 2 << 20;
constexpr unsigned int words = piece / sizeof(unsigned int);

/* Addresses of the device, of which some have memory. */
struct Range {
    CUdeviceptr address = 0;
    std::size_t pieces;
    std::vector<std::size_t> made = {};

    explicit Range(std::size_t count) : pieces(count) { CU(cuMemAddressReserve(&address, count * piece, 0, 0, 0)); }
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;
    ~Range()
    {
        for (std::size_t i : made)
            CU(cuMemUnmap(at(i), piece));
        CU(cuMemAddressFree(address, pieces * piece));
    }
    CUdeviceptr at(std::size_t i) const { return address + i * piece; }
    unsigned int *host(std::size_t i) const
    {
        return reinterpret_cast<unsigned int *>(static_cast<std::uintptr_t>(at(i)));
    }

    void make(std::size_t i, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    {
        const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
        const CUmemAllocationProp properties{
            CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_NONE, device, nullptr, {}};
        const CUmemAccessDesc access{device, flags};
        CUmemGenericAllocationHandle memory = 0;
        CU(cuMemCreate(&memory, piece, &properties, 0));
        CU(cuMemMap(at(i), piece, 0, memory, 0));
        CU(cuMemSetAccess(at(i), piece, &access, 1));
        CU(cuMemRelease(memory));
        made.push_back(i);
    }

    /* The host's own memory, at the same address. */
    void make_on_host(std::size_t i, int flags = MAP_PRIVATE)
    {
        void *there = mmap(host(i), piece, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        CHECK(there == host(i));
    }
};

void two_memories()
{
    Context context;
    Range range(4);
    std::vector<unsigned int> out(2 * words);

    for (std::size_t i : {0, 1}) {
        range.make(i);
        range.make_on_host(i, i ? MAP_SHARED : MAP_PRIVATE);
    }
    std::fill_n(range.host(0), 2 * words, 5u);
    CU(cuMemsetD32_v2(range.at(0), 7, 2 * words));
    CHECK_EQ(range.host(0)[0], 5u);
    /* A kernel at the end of a piece, and at the begin of the next. */
    CU(launch_count(context, range.at(1) - sizeof(unsigned int), 10, nullptr));
    CU(launch_count(context, range.at(1), 20, nullptr));
    CU(cuMemcpyDtoH_v2(out.data(), range.at(0), 2 * piece));
    CHECK(std::all_of(range.host(0), range.host(0) + 2 * words, [](unsigned int word) { return word == 5; }));
    CHECK_EQ(out[0], 7u);
    CHECK_EQ(out[words - 1], 17u);
    CHECK_EQ(out[words], 27u);
    /* From one memory to the other at the same address, and back. */
    CU(cuMemcpyDtoH_v2(range.host(0), range.at(0), 2 * piece));
    CHECK_EQ(range.host(0)[words], 27u);
    range.host(0)[words] = 100;
    CU(cuMemcpyHtoD_v2(range.at(1), range.host(1), piece));
    CU(launch_count(context, range.at(1), 1, nullptr));
    CU(cuMemcpyDtoD_v2(range.at(0), range.at(1), piece));
    CU(cuMemcpyDtoH_v2(out.data(), range.at(0), 2 * piece));
    CHECK_EQ(out[0], 101u);
    CHECK_EQ(range.host(1)[0], 100u);
}

/* A resident kernel looks at the host's memory, and finds what was allocated and mapped since it has begun. */
void resident_kernel()
{
    Context context;
    Range range(2);
    Pinned<unsigned int> flags(2);
    Stream first, second;
    CUdeviceptr seen = range.at(1);
    void *params[] = {&flags.device, &seen};

    range.make(0);
    CU(cuLaunchKernel(context.wait_for_host, 1, 1, 1, 1, 1, 1, 0, first, params, nullptr));
    CU_IS(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
    range.make(1);
    range.make_on_host(1);
    *range.host(1) = 3;
    Pinned<unsigned int> later(1);
    CUdeviceptr other_flag = flags.device + sizeof(unsigned int);
    void *other_params[] = {&other_flag, &later.device};
    CU(cuLaunchKernel(context.wait_for_host, 1, 1, 1, 1, 1, 1, 0, second, other_params, nullptr));
    std::atomic_ref(flags.host[0]).store(9);
    CU(cuStreamSynchronize(first));
    unsigned int out = 0;
    CU(cuMemcpyDtoH_v2(&out, range.at(1), sizeof(out)));
    CHECK_EQ(out, 9u);
    CHECK_EQ(*range.host(1), 3u);
    CU_IS(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    std::atomic_ref(flags.host[1]).store(4);
    CU(cuStreamSynchronize(second));
    CHECK_EQ(later.host[0], 4u);
}

/* Another memory at an address, and the first one again. */
void moved_memory()
{
    Context context;
    Range range(1);
    unsigned int out[2] = {};

    for (unsigned int round = 1; round <= 3; round++) {
        range.make(0);
        CU(launch_count(context, range.at(0), round, nullptr));
        CU(cuMemcpyDtoH_v2(&out, range.at(0), sizeof(out)));
        CHECK_EQ(out[0], round);
        CU(cuMemUnmap(range.at(0), piece));
        range.made.clear();
    }
}

void variables_of_modules()
{
    Context context;
    Pinned<unsigned int> before(3);
    CUfunction remember = nullptr;
    CUdeviceptr variable = 0;
    std::size_t bytes = 0;
    unsigned int value = 0;

    CU(cuModuleGetFunction(&remember, context.module, "remember"));
    for (unsigned int i = 0; i < 3; i++) {
        unsigned int next = i + 20;
        CUdeviceptr to = before.device + i * sizeof(unsigned int);
        void *params[] = {&next, &to};
        CU(cuLaunchKernel(remember, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    }
    CU(cuCtxSynchronize());
    CHECK_EQ(before.host[0], 0u);
    CHECK_EQ(before.host[1], 20u);
    CHECK_EQ(before.host[2], 21u);
    CU(cuModuleGetGlobal_v2(&variable, &bytes, context.module, "remembered"));
    CHECK_EQ(bytes, sizeof(value));
    CU(cuMemcpyDtoH_v2(&value, variable, sizeof(value)));
    CHECK_EQ(value, 22u);
}

/* Memory that is given back is there for the next, and empty. */
void memory_again()
{
    Context context;
    CUdeviceptr memory[3] = {};
    unsigned int out = 1;

    for (CUdeviceptr &one : memory)
        CU(cuMemAlloc_v2(&one, 3 * 4096 + 1));
    CU(cuMemsetD8_v2(memory[1], 0xff, 4096));
    const CUdeviceptr middle = memory[1];
    CU(cuMemFree_v2(memory[1]));
    CU(cuMemAlloc_v2(&memory[1], 4096));
    CHECK_EQ(memory[1], middle);
    CU(launch_count(context, memory[1], 6, nullptr));
    CU(cuMemcpyDtoH_v2(&out, memory[1], sizeof(out)));
    CHECK_EQ(out, 6u);
    for (CUdeviceptr one : memory)
        CU(cuMemFree_v2(one));
}

/* An error of the program's kernel, which goes on; the driver ends with it. */
void fault(CUmemAccess_flags flags)
{
    static Context context;
    static Range range(2);

    range.make(0, flags);
    range.make_on_host(0);
    range.make_on_host(1);
    CU(launch_count(context, range.at(flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? 0 : 1), 1, nullptr));
    CU_IS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    std::fflush(stdout);
    _exit(tap::failed_here);
}

void memory_of_the_host_alone()
{
    fault(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

void memory_that_may_be_read()
{
    fault(CU_MEM_ACCESS_FLAGS_PROT_READ);
}

const std::vector<tap::Case> &own_addresses_cases()
{
    static const std::vector<tap::Case> all = {
        {"one address, two memories", two_memories},
        {"memory that comes when a kernel runs", resident_kernel},
        {"memory that goes and comes again", moved_memory},
        {"modules' variables are there for the next launch", variables_of_modules},
        {"memory in common is used again", memory_again},
        {"a kernel touches what is the host's alone", memory_of_the_host_alone},
        {"a kernel writes what it may read", memory_that_may_be_read},
    };
    return all;
}

void in_another_process(const std::string &name)
{
    const pid_t child = fork();
    if (child == 0) {
        setenv("PTSCHED_VGPU_OWN_ADDRESSES", "1", 1);
        execl("/proc/self/exe", "vgpu_libcuda", "own addresses", name.c_str(), nullptr);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
}

} // namespace

int own_addresses_peer(const char *name)
{
    const auto &all = own_addresses_cases();
    const auto found = std::find_if(all.begin(), all.end(), [&](const tap::Case &one) { return one.name == name; });
    CU(cuInit(0));
    if (CHECK(found != all.end()))
        found->body();
    return tap::failed_here;
}

void add_own_addresses_cases(std::vector<tap::Case> &cases)
{
    for (const tap::Case &one : own_addresses_cases())
        cases.push_back({one.name, [name = one.name] { in_another_process(name); }});
}

} // namespace test
