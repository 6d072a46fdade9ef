// SPDX-License-Identifier: MIT
/* Devices, contexts, modules, memory, copies, look-up. */
#include "tests/vgpu/test_libcuda.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

namespace test {

namespace {

void devices()
{
    int count = 0, value = 0;
    CUdevice device, again;
    CUuuid uuid;
    char text[64];
    std::size_t bytes = 0;

    CU(cuDeviceGetCount(&count));
    CHECK_EQ(count, 2);
    CU_IS(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
    CU_IS(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
    CU(cuDeviceGet(&device, 1));
    CU(cuDeviceGetName(text, sizeof(text), device));
    CHECK(std::strcmp(text, "Virtual GPU") == 0);
    CU(cuDeviceGetPCIBusId(text, sizeof(text), device));
    if (!CHECK(std::strcmp(text, "ffff:02:00.0") == 0))
        std::printf("# it is %s\n", text);
    CU(cuDeviceGetByPCIBusId(&again, text));
    CHECK_EQ(again, device);
    CU(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, device));
    CHECK_EQ(value, 0xffff);
    CU(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device));
    CHECK_EQ(value, 2);
    CU(cuDeviceGetUuid_v2(&uuid, device));
    CHECK(std::all_of(uuid.bytes, uuid.bytes + 15, [](char c) { return c == 0; }));
    CHECK_EQ(static_cast<int>(uuid.bytes[15]), 2);
    CU(cuDeviceTotalMem_v2(&bytes, device));
    CHECK(bytes > 0);
}

void contexts()
{
    CUcontext first, second, current, primary, same;
    CUdevice device = -1;
    unsigned int flags;
    int active;

    CU_IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    CU_IS(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    CU(cuCtxCreate_v2(&first, 0, 0));
    CU(cuCtxCreate_v4(&second, nullptr, 0, 1));
    CU(cuCtxGetDevice(&device));
    CHECK_EQ(device, 1);
    CU(cuCtxPopCurrent_v2(&current));
    CHECK(current == second);
    CU(cuCtxGetCurrent(&current));
    CHECK(current == first);
    CU(cuCtxPushCurrent_v2(second));
    CU(cuCtxDestroy_v2(second));
    CU(cuCtxGetCurrent(&current));
    CHECK(current == first);
    /* A thread whose current context somebody else destroys. */
    std::thread([&] {
        CU(cuCtxSetCurrent(first));
        std::thread([&] { CU(cuCtxDestroy_v2(first)); }).join();
        CU_IS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }).join();
    CU(cuCtxSetCurrent(nullptr));

    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_EQ(active, 0);
    CU(cuDevicePrimaryCtxRetain(&primary, 0));
    CU(cuDevicePrimaryCtxRetain(&same, 0));
    CHECK(primary == same);
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_EQ(active, 1);
    CU_IS(cuCtxDestroy_v2(primary), CUDA_ERROR_INVALID_CONTEXT);
    CU(cuDevicePrimaryCtxRelease_v2(0));
    CU(cuDevicePrimaryCtxRelease_v2(0));
    CU_IS(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
}

void modules()
{
    Context context;
    CUmodule module;
    CUfunction function;
    CUlibrary library;
    CUkernel kernel;
    std::string path = folder() + "/kernels.so";
    std::ifstream file(path, std::ios::binary);
    std::vector<char> image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::size_t offset = 0, size = 0;

    CU_IS(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
    CU_IS(cuModuleLoad(&module, "/proc/self/maps"), CUDA_ERROR_INVALID_IMAGE);
    CU_IS(cuModuleLoadData(&module, "this is no image"), CUDA_ERROR_INVALID_IMAGE);
    CU(cuModuleLoadData(&module, image.data()));
    CU(cuModuleGetFunction(&function, module, "spin"));
    CU_IS(cuModuleGetFunction(&function, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
    CU(cuFuncGetParamInfo(context.spin, 1, &offset, &size));
    CHECK_EQ(offset, 8u);
    CHECK_EQ(size, 8u);
    CU_IS(cuFuncGetParamInfo(context.spin, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    CU(cuModuleUnload(module));
    CU_IS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    CU(cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    CU(cuLibraryGetKernel(&kernel, library, "count"));
    CU(cuKernelGetFunction(&function, kernel));
    CU(cuLibraryUnload(library));
}

void launches()
{
    constexpr unsigned int n = 1000;
    Context context;
    CUdeviceptr a, b, c;
    std::vector<float> x(n), y(n), z(n);
    unsigned int count = n;

    std::iota(x.begin(), x.end(), 0.0f);
    std::iota(y.begin(), y.end(), 5.0f);
    CU(cuMemAlloc_v2(&a, n * 4));
    CU(cuMemAlloc_v2(&b, n * 4));
    CU(cuMemAlloc_v2(&c, n * 4));
    CU(cuMemcpyHtoD_v2(a, x.data(), n * 4));
    CU(cuMemcpyHtoD_v2(b, y.data(), n * 4));
    auto right = [&] {
        std::fill(z.begin(), z.end(), 0.0f);
        CU(cuMemcpyDtoH_v2(z.data(), c, n * 4));
        CU(cuMemsetD32_v2(c, 0, n));
        for (unsigned int i = 0; i < n; i++)
            if (z[i] != x[i] + y[i])
                return false;
        return true;
    };
    void *params[] = {&a, &b, &c, &count};
    CU(cuLaunchKernel(context.vector_add, 8, 1, 1, 128, 1, 1, 0, nullptr, params, nullptr));
    /* The driver has copied the parameters. */
    count = 0;
    CHECK(right());
    count = n;
    CU(cuLaunchCooperativeKernel(context.vector_add, 8, 1, 1, 128, 1, 1, 0, nullptr, params));
    CHECK(right());
    CUlaunchConfig config{8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, 0};
    CU(cuLaunchKernelEx(&config, context.vector_add, params, nullptr));
    CHECK(right());
    CU(cuLaunchKernelEx_ptsz(&config, context.vector_add, params, nullptr));
    CU(cuStreamSynchronize_ptsz(nullptr));
    CHECK(right());
    struct {
        CUdeviceptr a, b, c;
        unsigned int n;
    } buffer{a, b, c, n};
    std::size_t bytes = sizeof(buffer);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CU(cuLaunchKernel(context.vector_add, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
    CHECK(right());

    CU_IS(cuLaunchKernel(context.vector_add, 0, 1, 1, 128, 1, 1, 0, nullptr, params, nullptr),
          CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuLaunchKernel(context.vector_add, 1, 1, 1, 2048, 1, 1, 0, nullptr, params, nullptr),
          CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), CUDA_ERROR_INVALID_HANDLE);
    CU_IS(cuLaunchCooperativeKernel(context.vector_add, 4096, 1, 1, 128, 1, 1, 0, nullptr, params),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

void matmul_result()
{
    constexpr unsigned int n = 33;
    Context context;
    CUdeviceptr a, b, c;
    unsigned int size = n;
    std::vector<float> x(n * n), y(n * n), z(n * n);

    for (unsigned int i = 0; i < n * n; i++) {
        x[i] = static_cast<float>(i % 7);
        y[i] = static_cast<float>(i % 5);
    }
    for (auto *pointer : {&a, &b, &c})
        CU(cuMemAllocManaged(pointer, n * n * 4, CU_MEM_ATTACH_GLOBAL));
    CU(cuMemcpy(a, reinterpret_cast<std::uintptr_t>(x.data()), n * n * 4));
    CU(cuMemcpy(b, reinterpret_cast<std::uintptr_t>(y.data()), n * n * 4));
    CU(cuMemPrefetchAsync(a, n * n * 4, 0, nullptr));
    CU(cuMemPrefetchAsync_v2(b, n * n * 4, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, nullptr));
    void *params[] = {&a, &b, &c, &size};
    CU(cuLaunchKernel(context.matmul, 3, 3, 1, 16, 16, 1, 0, nullptr, params, nullptr));
    CU(cuCtxSynchronize());
    const auto *result = reinterpret_cast<const float *>(static_cast<std::uintptr_t>(c));
    bool right = true;
    for (unsigned int row = 0; row < n; row++)
        for (unsigned int column = 0; column < n; column++) {
            float sum = 0;
            for (unsigned int k = 0; k < n; k++)
                sum += x[row * n + k] * y[k * n + column];
            right &= sum == result[row * n + column];
        }
    CHECK(right);
}

void memory_kinds()
{
    Context context;
    CUdeviceptr pointer, base;
    std::size_t available, total, after, size, pitch;
    unsigned int kind = 0, managed = 9;
    int host_value = 0;
    void *host;

    CU(cuMemGetInfo_v2(&available, &total));
    CU(cuMemAlloc_v2(&pointer, 1 << 20));
    CU(cuMemGetInfo_v2(&after, &total));
    CHECK_EQ(available - after, std::size_t{1} << 20);
    CU(cuMemGetAddressRange_v2(&base, &size, pointer + 100));
    CHECK(base == pointer && size == 1 << 20);
    CU(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer + 5));
    CHECK_EQ(kind, static_cast<unsigned int>(CU_MEMORYTYPE_DEVICE));
    CU_IS(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<std::uintptr_t>(&host_value)),
          CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *values[] = {&managed};
    CU(cuPointerGetAttributes(1, wanted, values, reinterpret_cast<std::uintptr_t>(&host_value)));
    CHECK_EQ(managed, 0u);
    CU(cuMemFree_v2(pointer));
    CU(cuMemFree_v2(0));
    CU_IS(cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAlloc_v2(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemAlloc_v2(&pointer, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    CU(cuMemAllocPitch_v2(&pointer, &pitch, 100, 10, 4));
    CHECK(pitch >= 100);
    CU(cuMemFree_v2(pointer));

    CUdeviceptr device = 0;
    CU(cuMemAllocHost_v2(&host, 64));
    CU_IS(cuMemFree_v2(reinterpret_cast<std::uintptr_t>(host)), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemFreeHost(host));
    std::vector<char> own(8192);
    CU(cuMemHostRegister_v2(own.data(), own.size(), 0));
    CU_IS(cuMemHostRegister_v2(own.data() + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CU(cuMemHostGetDevicePointer_v2(&pointer, own.data(), 0));
    CU(cuMemAlloc_v2(&device, 2 * own.size()));
    CU(cuMemcpyHtoD_v2(device, own.data() + 100, own.size() - 100));
    CU_IS(cuMemcpyHtoD_v2(device, own.data() + 100, own.size()), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemcpyDtoH_v2(own.data(), device, own.size() + 1), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemFree_v2(device));
    CU(cuMemHostUnregister(own.data()));
    CU_IS(cuMemHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);

    Stream stream;
    CU(cuMemAllocAsync(&pointer, 4096, stream));
    CU(cuMemsetD8Async(pointer, 7, 4096, stream));
    CU(cuMemFreeAsync(pointer, stream));
    CU(cuStreamSynchronize(stream));
    CU_IS(cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
}

void copies()
{
    Context context;
    Stream stream;
    CUdeviceptr a, b;
    std::vector<unsigned char> from(4096), to(4096);

    std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
    CU(cuMemAlloc_v2(&a, 4096));
    CU(cuMemAlloc_v2(&b, 4096));
    CU(cuMemcpyHtoDAsync_v2(a, from.data(), 4096, stream));
    CU(cuMemcpyDtoDAsync_v2(b, a, 4096, stream));
    CU(cuMemcpyDtoHAsync_v2(to.data(), b, 4096, stream));
    CU(cuStreamSynchronize(stream));
    CHECK(from == to);
    CU(cuMemsetD8_v2(a, 0xab, 100));
    CU(cuMemsetD16_v2(a + 100, 0x1234, 10));
    CU(cuMemcpyPeer(b, context.handle, a, context.handle, 4096));
    CU(cuMemcpyDtoH_v2(to.data(), b, 4096));
    CHECK(to[0] == 0xab && to[99] == 0xab && to[100] == 0x34 && to[119] == 0x12 && to[120] == from[120]);
    /* A 10 x 10 box out of rows of 64 into rows of 16, by two ways. */
    CUDA_MEMCPY2D box{};
    box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = a;
    box.srcPitch = 64;
    box.srcXInBytes = 3;
    box.srcY = 2;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = to.data();
    box.dstPitch = 16;
    box.WidthInBytes = 10;
    box.Height = 10;
    CU(cuMemcpyHtoD_v2(a, from.data(), 4096));
    std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
    CU(cuMemcpy2D_v2(&box));
    bool right = true;
    for (std::size_t y = 0; y < 10; y++)
        for (std::size_t x = 0; x < 16; x++)
            right &= to[y * 16 + x] == (x < 10 ? from[(y + 2) * 64 + x + 3] : 0);
    CHECK(right);
    box.WidthInBytes = 65;
    CU_IS(cuMemcpy2DAsync_v2(&box, stream), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemcpyHtoD_v2(a, from.data(), 4097), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemcpyDtoH_v2(to.data(), reinterpret_cast<std::uintptr_t>(to.data()), 10), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuMemsetD32_v2(a + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemsetD2D32Async(a, 64, 0x01010101, 2, 64, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemcpyDtoH_v2(to.data(), a, 4096));
    CHECK(to[64] == 1 && to[71] == 1 && to[72] == from[72]);
}

struct Symbol {
    const char *name, *base;
    int since;
    const char *per_thread;
};

#define CU_ABI_BASIC_ONLY
#define CU_ABI(symbol, base, since, args) {#symbol, base, since, nullptr},
#define CU_ABI_PTSZ(symbol, base, since, args) {#symbol, base, since, #symbol "_ptsz"},
#define CU_ABI_PTDS(symbol, base, since, args) {#symbol, base, since, #symbol "_ptds"},
const Symbol symbols[] = {
#include "libptsched/cuda/cuda_abi_list.h"
};

/* The real driver's habits that interposers get wrong. */
void look_up()
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *function = nullptr;
    CUdriverProcAddressQueryResult status;

    if (!CHECK(library))
        return;
    CU_IS(cuGetProcAddress_v2("", &function, 0, 0, &status), CUDA_ERROR_NOT_FOUND);
    CHECK_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK(function == nullptr);
    for (const Symbol &symbol : symbols) {
        void *plain = dlsym(library, symbol.name);
        if (!CHECK(plain))
            std::printf("# %s is not exported\n", symbol.name);
        CU(cuGetProcAddress_v2(symbol.base, &function, symbol.since, 0, nullptr));
        CHECK(function == plain);
        CU(cuGetProcAddress(symbol.base, &function, symbol.since, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
        CHECK(function == (symbol.per_thread ? dlsym(library, symbol.per_thread) : plain));
    }
    CU(cuGetProcAddress_v2("cuGetProcAddress", &function, 11030, 0, &status));
    CHECK(function == dlsym(library, "cuGetProcAddress"));
    CU(cuGetProcAddress_v2("cuGetProcAddress", &function, 13000, 0, &status));
    CHECK(function == dlsym(library, "cuGetProcAddress_v2"));
    CU_IS(cuGetProcAddress_v2("cuLaunchKernelEx", &function, 11000, 0, &status), CUDA_ERROR_NOT_FOUND);
    CHECK_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    CU_IS(cuGetProcAddress_v2("cuNoSuchThing", &function, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
    CU_IS(cuGetProcAddress_v2("cuInit", &function, 13000, 64, &status), CUDA_ERROR_INVALID_VALUE);
    CHECK(dlsym(library, "cuNoSuchThing") == nullptr);
    const void *table = &status;
    CUuuid id{};
    CU_IS(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
    dlclose(library);
}

void error_texts()
{
    const char *text = nullptr;

    CU(cuGetErrorName(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, &text));
    CHECK(std::strcmp(text, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT") == 0);
    CU(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    CHECK(std::strcmp(text, "out of memory") == 0);
    CU_IS(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
    CHECK(text == nullptr);
}

void two_devices()
{
    Context first(0), second(1);
    CUdeviceptr a, b;
    unsigned int value = 0;
    int peer = 0;

    CU(cuDeviceCanAccessPeer(&peer, 0, 1));
    CHECK_EQ(peer, 1);
    CU(cuMemAlloc_v2(&b, 4));
    Stream there;
    CU(cuCtxPushCurrent_v2(first.handle));
    CU(cuMemAlloc_v2(&a, 4));
    Stream here;
    Event event;
    CU(cuMemsetD32Async(a, 40, 1, here));
    CU(launch_spin(first, a, 2000000, here));
    CU(cuMemsetD32Async(a, 40, 1, here));
    CU(cuEventRecord(event, here));
    CU(cuCtxPopCurrent_v2(nullptr));
    /* The other device's stream waits for this one's. */
    CU(cuStreamWaitEvent(there, event, 0));
    CU(cuMemcpyPeerAsync(b, second.handle, a, first.handle, 4, there));
    CU(launch_count(second, b, 2, there));
    CU(cuStreamSynchronize(there));
    CU(cuMemcpyDtoH_v2(&value, b, 4));
    CHECK_EQ(value, 42u);
}

/* C's own way to have something done at the end of a thread, which comes after that of C++. */
void last_calls_of_a_thread()
{
    Context context(0);
    static CUcontext handle;
    static CUresult synchronised;
    pthread_key_t key;
    handle = context.handle;
    synchronised = CUDA_ERROR_UNKNOWN;
    CHECK_EQ(pthread_key_create(&key,
                                [](void *) {
                                    cuCtxSetCurrent(handle);
                                    synchronised = cuCtxSynchronize();
                                }),
             0);
    std::thread([&] {
        CU(cuCtxSetCurrent(handle));
        pthread_setspecific(key, &key);
    }).join();
    CU(synchronised);
    pthread_key_delete(key);
}

} // namespace

void add_basic_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(), {
                                  {"devices and their names", devices},
                                  {"contexts, primary ones, stacks", contexts},
                                  {"modules from files and memory, libraries", modules},
                                  {"launches of every form", launches},
                                  {"matmul on managed memory", matmul_result},
                                  {"kinds of memory", memory_kinds},
                                  {"copies and fills", copies},
                                  {"look-up by both ABIs, versions and flags", look_up},
                                  {"texts of errors", error_texts},
                                  {"two devices", two_devices},
                                  {"calls at the end of a thread", last_calls_of_a_thread},
                              });
}

} // namespace test
