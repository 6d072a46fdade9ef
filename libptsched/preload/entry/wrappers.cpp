// SPDX-License-Identifier: MIT
/* The functions that programs call instead of the driver's, made from entry_points.def. */
#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/meter/capture.hpp"
#include "libptsched/preload/turn/attach.hpp"
#include "libptsched/preload/turn/gate.hpp"
#include "libptsched/preload/turn/process.hpp"

using namespace ptsched::preload;
using ptsched::NoCancellation;

namespace {

/* The driver's call amid our own work for it, in whose midst the thread may not be cancelled. */
template <class Fn> CUresult theirs(const NoCancellation &here, Fn call)
{
    NoCancellation::Lifted for_the_driver(here);
    return call();
}

} // namespace

extern "C" {

#define REAL(name) driver.real<decltype(name)>(Entry::name)

#define SUBMIT(name, kind, params, args, stream, key)                                                                  \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        return submit(                                                                                                 \
            stream, DefaultStream::kind, [&] { return key; }, [&] { return REAL(name) args; });                        \
    }

#define SETTLE(name, params, args)                                                                                     \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        if (!driver.bind())                                                                                            \
            return REAL(name) args;                                                                                    \
        CUresult result = REAL(name) args;                                                                             \
        if (result == CUDA_SUCCESS)                                                                                    \
            settled();                                                                                                 \
        return result;                                                                                                 \
    }

#define WATCH(name, params, args)                                                                                      \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        if (!driver.bind())                                                                                            \
            return REAL(name) args;                                                                                    \
        will_wait_for_host();                                                                                          \
        return REAL(name) args;                                                                                        \
    }

#define CAPTURE(name, params, args)                                                                                    \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        if (!driver.bind())                                                                                            \
            return REAL(name) args;                                                                                    \
        CaptureWindow window(get_thread());                                                                            \
        return REAL(name) args;                                                                                        \
    }

#define END_STREAM(name, params, args, stream)                                                                         \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        if (!driver.bind())                                                                                            \
            return REAL(name) args;                                                                                    \
        NoCancellation here;                                                                                           \
        process->stream_ends(stream);                                                                                  \
        return theirs(here, [&] { return REAL(name) args; });                                                          \
    }

#define END_CONTEXT(name, params, args, context)                                                                       \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        if (!driver.bind())                                                                                            \
            return REAL(name) args;                                                                                    \
        NoCancellation here;                                                                                           \
        CUcontext ending = (context);                                                                                  \
        Device *device = process->context_ends(ending);                                                                \
        CUresult result = theirs(here, [&] { return REAL(name) args; });                                               \
        process->context_ended(ending, device, result == CUDA_SUCCESS);                                                \
        return result;                                                                                                 \
    }

#define END_DEVICE(name, params, args, device)                                                                         \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        if (!driver.bind())                                                                                            \
            return REAL(name) args;                                                                                    \
        NoCancellation here;                                                                                           \
        Device *ending = process->primary_context_ends(device);                                                        \
        CUresult result = theirs(here, [&] { return REAL(name) args; });                                               \
        process->primary_context_ended(device, ending);                                                                \
        return result;                                                                                                 \
    }

#define BEGIN_CONTEXT(name, params, args)                                                                              \
    PTSCHED_EXPORT CUresult name params                                                                                \
    {                                                                                                                  \
        if (!driver.bind())                                                                                            \
            return REAL(name) args;                                                                                    \
        NoCancellation here;                                                                                           \
        process->context_is_to_begin();                                                                                \
        CUresult result = theirs(here, [&] { return REAL(name) args; });                                               \
        if (result == CUDA_SUCCESS && context)                                                                         \
            context_begins(*context, Entry::name != Entry::cuDevicePrimaryCtxRetain);                                  \
        return result;                                                                                                 \
    }

/* In procaddr.cpp. */
#define RESOLVE(name) CUresult name();

#include "libptsched/preload/driver/entry_points.def"

} /* extern "C" */

namespace ptsched::preload {

void *wrapper_of(Entry entry)
{
    static void *const wrappers[] = {
#define SUBMIT(name, kind, params, args, stream, key) reinterpret_cast<void *>(&name),
#define SETTLE(name, params, args) reinterpret_cast<void *>(&name),
#define WATCH(name, params, args) reinterpret_cast<void *>(&name),
#define CAPTURE(name, params, args) reinterpret_cast<void *>(&name),
#define END_STREAM(name, params, args, stream) reinterpret_cast<void *>(&name),
#define END_CONTEXT(name, params, args, context) reinterpret_cast<void *>(&name),
#define END_DEVICE(name, params, args, device) reinterpret_cast<void *>(&name),
#define BEGIN_CONTEXT(name, params, args) reinterpret_cast<void *>(&name),
#define RESOLVE(name) reinterpret_cast<void *>(&name),
#include "libptsched/preload/driver/entry_points.def"
    };
    return wrappers[static_cast<std::size_t>(entry)];
}

} // namespace ptsched::preload
