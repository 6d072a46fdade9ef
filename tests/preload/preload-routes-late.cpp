// SPDX-License-Identifier: MIT
/* The routes of a program that is not linked with the driver and loads it late, privately. */
#include "tests/preload/routes.h"

int main(int, char **argv)
{
    std::string folder = program_folder() / "preload";
    run_under(argv, folder + "/libptsched-preload.so", folder);
    return tap::run({
        {"nothing is found before the driver is there",
         [] {
             CHECK(!dlsym(RTLD_DEFAULT, "cuLaunchKernel"));
             CHECK(dlerror() != nullptr);
         }},
        {"a driver loaded late with RTLD_LOCAL is found through its handle",
         [&] {
             void *handle = dlopen((folder + "/versioned/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
             CHECK(handle != nullptr);
             for (const std::string &name : names)
                 CHECK(is_wrapper_of(dlsym(handle, name.c_str()), name));
             for (const std::string &name : names)
                 CHECK(is_wrapper_of(dlvsym(handle, name.c_str(), "HAND_DRIVER"), name));
             CHECK(!dlvsym(handle, "cuLaunchKernel", "NO_SUCH_VERSION"));
             auto resolve = reinterpret_cast<Resolve5>(dlsym(handle, "cuGetProcAddress_v2"));
             by_five_arguments(resolve);
             auto use = reinterpret_cast<CUresult (*)(CUdevice)>(dlsym(handle, "hand_use_device"));
             use(0);
             all_submissions();
             dlclose(handle);
         }},
        {"after the program closed its handle, what it got still works",
         [] {
             CHECK(hand() != nullptr);
             all_submissions();
         }},
    });
}
