// SPDX-License-Identifier: MIT
/*
 * Every route by which a program may find the driver's entry points, for every name in entry_points.def: the function
 * it gets must be ours, of the version that the driver would have given, and reach the driver's function of that name.
 * This program is linked with the driver; preload-routes-late is not.
 */
#include "tests/preload/routes.h"

extern "C" {
CUresult cuInit(unsigned);
CUresult cuGetProcAddress(const char *, void **, int, std::uint64_t);
CUresult cuGetProcAddress_v2(const char *, void **, int, std::uint64_t, CUdriverProcAddressQueryResult *);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void **, void **);
CUresult hand_use_device(CUdevice);
}

namespace {

/* ---- direct linking ---- */

void direct()
{
    CHECK(home(reinterpret_cast<void *>(&cuLaunchKernel)) == "libptsched-preload.so");
    unsigned long before = hand()->calls("cuLaunchKernel");
    CHECK_EQ(int(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)), 0);
    CHECK_EQ(hand()->calls("cuLaunchKernel"), before + 1);
}

/* ---- dlsym and dlvsym ---- */

void by_dlsym()
{
    for (void *handle : {dlopen("libcuda.so.1", RTLD_NOW), dlopen(nullptr, RTLD_NOW), RTLD_DEFAULT}) {
        for (const std::string &name : names)
            CHECK(is_wrapper_of(dlsym(handle, name.c_str()), name));
    }
}

void both_versions_of_dlsym()
{
    for (const char *version : {"GLIBC_2.2.5", "GLIBC_2.34"}) {
        CHECK(home(dlvsym(RTLD_DEFAULT, "dlsym", version)) == "libptsched-preload.so");
        CHECK(home(dlvsym(RTLD_DEFAULT, "dlvsym", version)) == "libptsched-preload.so");
    }
}

void other_names()
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(home(dlsym(handle, "cuInit")) == "libcuda.so.1");
    CHECK(home(dlsym(RTLD_DEFAULT, "getppid")).starts_with("libc.so"));
    dlerror();
    CHECK(!dlsym(handle, "cuNoSuchFunction"));
    const char *error = dlerror();
    CHECK(error && std::strstr(error, "cuNoSuchFunction"));
}

/* RTLD_NEXT is relative to the caller: from here, the interposer comes next; its own "next" is the C library. */
void rtld_next()
{
    CHECK(home(dlsym(RTLD_NEXT, "cuLaunchKernel")) == "libptsched-preload.so");
    CHECK(home(dlsym(RTLD_NEXT, "dlsym")) == "libptsched-preload.so");
    CHECK(home(dlsym(RTLD_NEXT, "getppid")).starts_with("libc.so"));
    /* A function of this program is found by "default" and not by "next". */
    CHECK(dlsym(RTLD_DEFAULT, "preload_routes_marker") != nullptr);
    CHECK(dlsym(RTLD_NEXT, "preload_routes_marker") == nullptr);
}

void resolvers_linked()
{
    by_four_arguments(cuGetProcAddress);
    by_five_arguments(cuGetProcAddress_v2);
}

/* A resolver asked for the resolver, in both ABIs, as the CUDA runtime does. */
void resolvers_resolved()
{
    void *function = nullptr;
    CHECK_EQ(int(cuGetProcAddress_v2("cuGetProcAddress", &function, 11030, 0, nullptr)), 0);
    by_four_arguments(reinterpret_cast<Resolve4>(function));
    CHECK_EQ(int(cuGetProcAddress_v2("cuGetProcAddress", &function, 12000, 0, nullptr)), 0);
    by_five_arguments(reinterpret_cast<Resolve5>(function));
}

} // namespace

extern "C" __attribute__((visibility("default"))) void preload_routes_marker() {}

int main(int, char **argv)
{
    std::string folder = program_folder() / "preload";
    run_under(argv, folder + "/libptsched-preload.so", folder);
    hand_use_device(0);
    return tap::run({
        {"direct linking", direct},
        {"dlsym with the driver's handle, the program's and RTLD_DEFAULT", by_dlsym},
        {"dlsym and dlvsym under both version names", both_versions_of_dlsym},
        {"names that are not ours, and missing ones", other_names},
        {"RTLD_NEXT keeps its meaning for the caller", rtld_next},
        {"cuGetProcAddress with four and with five arguments, every flag and version", resolvers_linked},
        {"cuGetProcAddress obtained from cuGetProcAddress", resolvers_resolved},
        {"every submission of the table reaches the driver once", all_submissions},
    });
}
