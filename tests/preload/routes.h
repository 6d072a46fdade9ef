/* SPDX-License-Identifier: MIT */
/* What the tests of routes share: the names, what each query must give, and the check that it is ours. */
#ifndef TEST_PRELOAD_ROUTES_H
#define TEST_PRELOAD_ROUTES_H

#include "tests/preload/hand_driver.h"
#include "tests/vgpu/tap.h"
#include "tests/preload/under_preload.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

inline const std::vector<std::string> names = {
#define EACH(name) #name,
#include "libptsched/preload/driver/entry_points.def"
};

inline const std::vector<std::string> submissions = {
#define SUBMIT(name, kind, params, args, stream, key) #name,
#include "libptsched/preload/driver/entry_points.def"
};

using Resolve4 = CUresult (*)(const char *, void **, int, uint64_t);
using Resolve5 = CUresult (*)(const char *, void **, int, uint64_t, CUdriverProcAddressQueryResult *);

/* The file that @address is in. */
inline std::string home(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? std::filesystem::path(info.dli_fname).filename().string() : "nowhere";
}

inline void *interposer()
{
    static void *handle = dlopen("libptsched-preload.so", RTLD_NOW | RTLD_NOLOAD);
    return handle;
}

inline const struct hand_controls *hand()
{
    static auto controls = [] {
        void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        return static_cast<const struct hand_controls *>(dlsym(handle, "hand_controls"));
    }();
    return controls;
}

inline bool is_wrapper_of(void *address, const std::string &name)
{
    if (home(address) == "libptsched-preload.so" && address == dlsym(interposer(), name.c_str()))
        return true;
    Dl_info info{};
    dladdr(address, &info);
    std::printf("# for %s: %s in %s\n", name.c_str(), info.dli_sname ? info.dli_sname : "?", home(address).c_str());
    return false;
}

/* ---- cuGetProcAddress ---- */

struct Expected {
    const char *symbol;
    int version;
    uint64_t flags;
    const char *name;
};

inline const Expected expected[] = {
    {"cuLaunchKernel", 4000, 0, "cuLaunchKernel"},
    {"cuLaunchKernel", 7000, 1, "cuLaunchKernel"},
    {"cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz"},
    {"cuLaunchKernelEx", 11060, 0, "cuLaunchKernelEx"},
    {"cuLaunchKernelEx", 11060, 2, "cuLaunchKernelEx_ptsz"},
    {"cuLaunchCooperativeKernel", 9000, 2, "cuLaunchCooperativeKernel_ptsz"},
    {"cuGraphLaunch", 10000, 0, "cuGraphLaunch"},
    {"cuGraphLaunch", 10000, 2, "cuGraphLaunch_ptsz"},
    {"cuMemcpyHtoD", 3020, 0, "cuMemcpyHtoD_v2"},
    {"cuMemcpyHtoD", 2000, 0, "cuMemcpyHtoD"},
    {"cuMemcpyHtoD", 7000, 2, "cuMemcpyHtoD_v2_ptds"},
    {"cuMemcpyHtoDAsync", 7000, 2, "cuMemcpyHtoDAsync_v2_ptsz"},
    {"cuMemsetD8Async", 3020, 0, "cuMemsetD8Async"},
    {"cuMemcpyBatchAsync", 12080, 0, "cuMemcpyBatchAsync"},
    {"cuMemcpyBatchAsync", 12080, 2, "cuMemcpyBatchAsync_ptsz"},
    {"cuMemcpyBatchAsync", 13000, 0, "cuMemcpyBatchAsync_v2"},
    {"cuMemcpyBatchAsync", 13000, 2, "cuMemcpyBatchAsync_v2_ptsz"},
    {"cuMemcpy3DBatchAsync", 12080, 0, "cuMemcpy3DBatchAsync"},
    {"cuMemcpy3DBatchAsync", 13000, 2, "cuMemcpy3DBatchAsync_v2_ptsz"},
    {"cuMemPrefetchAsync", 8000, 0, "cuMemPrefetchAsync"},
    {"cuMemPrefetchAsync", 12020, 2, "cuMemPrefetchAsync_v2_ptsz"},
    {"cuStreamSynchronize", 7000, 2, "cuStreamSynchronize_ptsz"},
    {"cuGetProcAddress", 11030, 0, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2"},
    {"cuGetProcAddress", 12000, 2, "cuGetProcAddress_v2"},
};

inline void by_five_arguments(Resolve5 resolve)
{
    for (const Expected &e : expected) {
        void *function = nullptr;
        CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        CHECK_EQ(int(resolve(e.symbol, &function, e.version, e.flags, &status)), 0);
        CHECK_EQ(int(status), int(CU_GET_PROC_ADDRESS_SUCCESS));
        CHECK(is_wrapper_of(function, e.name));
        function = nullptr;
        CHECK_EQ(int(resolve(e.symbol, &function, e.version, e.flags, nullptr)), 0);
        CHECK(is_wrapper_of(function, e.name));
    }
    void *function = nullptr;
    CHECK(resolve("", &function, 0, 0, nullptr) != CUDA_SUCCESS);
    CHECK(resolve("cuNoSuchFunction", &function, 13000, 0, nullptr) != CUDA_SUCCESS);
    CHECK_EQ(int(resolve("cuInit", &function, 13000, 0, nullptr)), 0);
    CHECK(home(function) == "libcuda.so.1");
}

inline void by_four_arguments(Resolve4 resolve)
{
    for (const Expected &e : expected) {
        void *function = nullptr;
        CHECK_EQ(int(resolve(e.symbol, &function, e.version, e.flags)), 0);
        CHECK(is_wrapper_of(function, e.name));
    }
}

/* ---- every submission reaches the function of its own name, once ---- */

/* Ten zero words or a block of zeros serve as arguments of any of them. */
inline CUresult with_zeros(const std::string &name, void *address)
{
    using Any = CUresult (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
    std::vector<char> zeros(512);
    void *first = name.starts_with("cuLaunchKernelEx") ? zeros.data() : nullptr;
    void *third = name.starts_with("cuGraphInstantiateWithParams") ? zeros.data() : nullptr;
    return reinterpret_cast<Any>(address)(first, nullptr, third, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                          nullptr, nullptr);
}

inline void all_submissions()
{
    std::map<std::string, unsigned long> before;
    for (const std::string &name : names)
        before[name] = hand()->calls(name.c_str());
    for (const std::string &name : submissions) {
        CHECK_EQ(int(with_zeros(name, dlsym(RTLD_DEFAULT, name.c_str()))), 0);
        if (!CHECK(hand()->calls(name.c_str()) == before[name] + 1))
            std::printf("# %s\n", name.c_str());
    }
}

#endif
