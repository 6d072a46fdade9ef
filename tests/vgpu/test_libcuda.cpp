// SPDX-License-Identifier: MIT
/* The driver library of the virtual GPU, on a daemon of the test's own; or on vgpu.ko, if that is loaded. */
#include "tests/vgpu/test_libcuda.h"

#include <memory>

namespace test {

Context::Context(int device)
{
    CU(cuCtxCreate_v2(&handle, 0, device));
    CU(cuModuleLoad(&module, (folder() + "/kernels.so").c_str()));
    CU(cuModuleGetFunction(&spin, module, "spin"));
    CU(cuModuleGetFunction(&vector_add, module, "vector_add"));
    CU(cuModuleGetFunction(&matmul, module, "matmul"));
    CU(cuModuleGetFunction(&count, module, "count"));
    CU(cuModuleGetFunction(&wait_for_host, module, "wait_for_host"));
}

Context::~Context()
{
    cuCtxSetCurrent(handle);
    cuModuleUnload(module);
    CU(cuCtxDestroy_v2(handle));
}

CUresult launch_count(const Context &context, CUdeviceptr counter, unsigned int value, CUstream stream)
{
    void *params[] = {&counter, &value};
    return cuLaunchKernel(context.count, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr);
}

CUresult launch_spin(const Context &context, CUdeviceptr out, unsigned long long ns, CUstream stream,
                     unsigned int threads, unsigned int steps)
{
    void *params[] = {&out, &ns, &steps};
    return cuLaunchKernel(context.spin, 1, 1, 1, threads, 1, 1, 0, stream, params, nullptr);
}

unsigned int spin_result(unsigned int thread, unsigned int steps)
{
    unsigned int x = thread;
    for (unsigned int i = 0; i < steps; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

} // namespace test

int main(int argc, char **argv)
{
    std::unique_ptr<test::Daemon> daemon;
    std::vector<tap::Case> cases;

    if (argc == 3 && std::string(argv[1]) == "trapped")
        return test::trapped_peer(argv[2]);
    if (argc == 3 && std::string(argv[1]) == "own addresses")
        return test::own_addresses_peer(argv[2]);
    if (argc == 3)
        return test::ipc_peer(argv[1], std::atoi(argv[2]));
    try {
        if (access("/dev/vgpu", F_OK) < 0)
            daemon = std::make_unique<test::Daemon>();
    } catch (const std::exception &error) {
        std::printf("Bail out! %s\n", error.what());
        return 1;
    }
    test::add_process_cases(cases);
    test::add_basic_cases(cases);
    test::add_order_cases(cases);
    test::add_graph_cases(cases);
    test::add_ipc_cases(cases);
    test::add_block_cases(cases);
    test::add_capacity_cases(cases);
    test::add_vmm_cases(cases);
    test::add_own_addresses_cases(cases);
    return tap::run(cases);
}
