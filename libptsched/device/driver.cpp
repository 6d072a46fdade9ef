// SPDX-License-Identifier: MIT
#include "libptsched/device/driver.hpp"

#include <dlfcn.h>
#include <optional>

namespace ptsched::device {

namespace {

template <typename F> bool find(void *library, const char *name, F *&function)
{
    function = reinterpret_cast<F *>(dlsym(library, name));
    return function;
}

std::optional<Driver> load()
{
    Driver d;
    decltype(&cuInit) init;
    /* Stays loaded: a driver does not survive its own unloading. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    bool complete = library && find(library, "cuInit", init);

#define PTSCHED_DEVICE_FIND(member, symbol) complete = complete && find(library, #symbol, d.member);
    PTSCHED_DEVICE_DRIVER(PTSCHED_DEVICE_FIND)
#undef PTSCHED_DEVICE_FIND
    if (!complete)
        return {};
#define PTSCHED_DEVICE_FIND(member, symbol) find(library, #symbol, d.member);
    PTSCHED_DEVICE_DRIVER_OPTIONAL(PTSCHED_DEVICE_FIND)
#undef PTSCHED_DEVICE_FIND
    bool all = true;
#define PTSCHED_DEVICE_FIND(member, symbol) all = find(library, #symbol, d.member) && all;
    PTSCHED_DEVICE_DRIVER_GRAPHS(PTSCHED_DEVICE_FIND)
    if (!all)
        d.graph_create = nullptr;
    all = true;
    PTSCHED_DEVICE_DRIVER_SHARING(PTSCHED_DEVICE_FIND)
#undef PTSCHED_DEVICE_FIND
    if (!all)
        d.ipc_get = nullptr;
    if (init(0) != CUDA_SUCCESS)
        return {};
    return d;
}

/* A context does not recover from them: cuda.h, "must be terminated and relaunched". */
bool is_fault(CUresult error)
{
    return error == CUDA_ERROR_ILLEGAL_ADDRESS || error == CUDA_ERROR_LAUNCH_TIMEOUT || error == CUDA_ERROR_ASSERT ||
           (error >= CUDA_ERROR_HARDWARE_STACK_ERROR && error <= CUDA_ERROR_LAUNCH_FAILED);
}

} // namespace

const Driver *Driver::get()
{
    static const std::optional<Driver> driver = load();
    return driver ? &*driver : nullptr;
}

void Driver::fail(CUresult error, const std::string &doing) const
{
    const char *name = nullptr;
    error_name(error, &name);
    const std::string what = doing + ": " + (name ? name : "CUDA error " + std::to_string(error));
    if (is_fault(error))
        throw Fault(what);
    throw Error(what);
}

void Driver::lack(const char *symbol, const char *what)
{
    throw Error(std::string(what) + " needs " + symbol +
                ", which this machine's CUDA driver does not have: a newer one "
                "has it");
}

} // namespace ptsched::device
