/* SPDX-License-Identifier: MIT */
/* What the tests of the virtual GPU's driver library share. */
#ifndef VGPU_TEST_LIBCUDA_H
#define VGPU_TEST_LIBCUDA_H

#include "libptsched/cuda/cuda_abi.h"
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"

#include <cstdint>
#include <string>
#include <vector>

namespace test {

/* Fails the case if a driver call does not return what it should. */
#define CU(call) CHECK_EQ(call, CUDA_SUCCESS)
#define CU_IS(call, error) CHECK_EQ(call, error)

/* A context of its own on a device, current while it lives, with the test kernels. */
struct Context {
    CUcontext handle{};
    CUmodule module{};
    CUfunction spin{}, vector_add{}, matmul{}, count{}, wait_for_host{};

    explicit Context(int device = 0);
    ~Context();
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
};

/* Memory that host and device both see. */
template <typename T> struct Pinned {
    T *host{};
    CUdeviceptr device{};

    explicit Pinned(size_t count, T value = {})
    {
        void *memory = nullptr;
        CU(cuMemHostAlloc(&memory, count * sizeof(T), CU_MEMHOSTALLOC_DEVICEMAP));
        host = static_cast<T *>(memory);
        CU(cuMemHostGetDevicePointer_v2(&device, memory, 0));
        for (size_t i = 0; i < count; i++)
            host[i] = value;
    }
    ~Pinned() { cuMemFreeHost(host); }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
};

struct Stream {
    CUstream handle{};
    explicit Stream(unsigned int flags = CU_STREAM_NON_BLOCKING) { CU(cuStreamCreate(&handle, flags)); }
    ~Stream() { cuStreamDestroy_v2(handle); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    operator CUstream() const { return handle; }
};

struct Event {
    CUevent handle{};
    explicit Event(unsigned int flags = CU_EVENT_DEFAULT) { CU(cuEventCreate(&handle, flags)); }
    ~Event() { cuEventDestroy_v2(handle); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    operator CUevent() const { return handle; }
};

/* One thread of count: *counter += value; takes its time on the device if told. */
CUresult launch_count(const Context &context, CUdeviceptr counter, unsigned int value, CUstream stream);
CUresult launch_spin(const Context &context, CUdeviceptr out, unsigned long long ns, CUstream stream,
                     unsigned int threads = 1, unsigned int steps = 64);
unsigned int spin_result(unsigned int thread, unsigned int steps = 64);

void add_basic_cases(std::vector<tap::Case> &cases);
void add_order_cases(std::vector<tap::Case> &cases);
void add_graph_cases(std::vector<tap::Case> &cases);
void add_process_cases(std::vector<tap::Case> &cases);
void add_ipc_cases(std::vector<tap::Case> &cases);
void add_block_cases(std::vector<tap::Case> &cases);
void add_capacity_cases(std::vector<tap::Case> &cases);
void add_vmm_cases(std::vector<tap::Case> &cases);
void add_own_addresses_cases(std::vector<tap::Case> &cases);
/* The other process of these, which begins anew: a driver does not survive a fork. */
int ipc_peer(const std::string &role, int socket);
/* Launches a kernel that traps. */
int trapped_peer(const char *name);
/* Another process, whose kernels have addresses of their own; runs one of those cases. */
int own_addresses_peer(const char *name);

} // namespace test

#endif /* VGPU_TEST_LIBCUDA_H */
