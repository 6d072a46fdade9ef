// SPDX-License-Identifier: MIT
#include "libptsched/device/icd.hpp"

#include <ptsched/device/device.hpp>

#include <dlfcn.h>
#include <optional>

namespace ptsched::device {

namespace {

template <typename F> bool find(void *library, const char *name, F *&function)
{
    function = reinterpret_cast<F *>(dlsym(library, name));
    return function;
}

std::optional<Icd> load()
{
    Icd icd;
    /* Stays loaded: what it loads has threads. */
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    bool complete = library;

#define PTSCHED_DEVICE_FIND(member, symbol) complete = complete && find(library, #symbol, icd.member);
    PTSCHED_DEVICE_ICD(PTSCHED_DEVICE_FIND)
#undef PTSCHED_DEVICE_FIND
    if (!complete)
        return {};
    return icd;
}

struct Name {
    cl_int error;
    const char *text;
};

#define NAME(error)                                                                                                    \
    {                                                                                                                  \
        error, #error                                                                                                  \
    }
constexpr Name names[] = {
    NAME(CL_DEVICE_NOT_AVAILABLE),
    NAME(CL_COMPILER_NOT_AVAILABLE),
    NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAME(CL_OUT_OF_RESOURCES),
    NAME(CL_OUT_OF_HOST_MEMORY),
    NAME(CL_BUILD_PROGRAM_FAILURE),
    NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAME(CL_INVALID_VALUE),
    NAME(CL_INVALID_DEVICE),
    NAME(CL_INVALID_CONTEXT),
    NAME(CL_INVALID_COMMAND_QUEUE),
    NAME(CL_INVALID_MEM_OBJECT),
    NAME(CL_INVALID_BUILD_OPTIONS),
    NAME(CL_INVALID_PROGRAM_EXECUTABLE),
    NAME(CL_INVALID_KERNEL_NAME),
    NAME(CL_INVALID_KERNEL),
    NAME(CL_INVALID_ARG_INDEX),
    NAME(CL_INVALID_ARG_VALUE),
    NAME(CL_INVALID_ARG_SIZE),
    NAME(CL_INVALID_KERNEL_ARGS),
    NAME(CL_INVALID_WORK_DIMENSION),
    NAME(CL_INVALID_WORK_GROUP_SIZE),
    NAME(CL_INVALID_WORK_ITEM_SIZE),
    NAME(CL_INVALID_EVENT),
    NAME(CL_INVALID_OPERATION),
    NAME(CL_INVALID_BUFFER_SIZE),
};
#undef NAME

} // namespace

const Icd *Icd::get()
{
    static const std::optional<Icd> icd = load();
    return icd ? &*icd : nullptr;
}

void Icd::fail(cl_int error, const std::string &doing)
{
    for (const Name &name : names)
        if (name.error == error)
            throw Error(doing + ": " + name.text);
    throw Error(doing + ": OpenCL error " + std::to_string(error));
}

} // namespace ptsched::device
