// SPDX-License-Identifier: MIT
/*
 * How programs find the driver's entry points by name: dlsym(), dlvsym() and the driver's own cuGetProcAddress().
 *
 * The real resolver is asked first, and its answer is replaced only if it is an address that the driver exports under
 * a name in entry_points.def. So a version or a default-stream variant is never guessed: cuMemcpyBatchAsync at 12080
 * and at 13000 are two addresses, and so are cuGetProcAddress with four arguments (11030) and with five (12000).
 */
#include "libptsched/preload/entry/procaddr.hpp"

#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/loaded/real_dlsym.hpp"

#include <dlfcn.h>

namespace ptsched::preload {
namespace {

DefaultStream kind_of(std::uint64_t flags)
{
    return flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? DefaultStream::per_thread : DefaultStream::legacy;
}

DefaultStream kind_of(std::string_view name)
{
    return name.ends_with("_ptsz") || name.ends_with("_ptds") ? DefaultStream::per_thread : DefaultStream::legacy;
}

void note_unknown_submission(const char *name)
{
    counters.unknown.fetch_add(1, std::memory_order_relaxed);
    debug("%s is not scheduled: unknown to this version of ptsched", name);
}

void replace(const char *symbol, void **function, std::uint64_t flags)
{
    if (!symbol || !function || !*function)
        return;
    NoCancellation here;
    void *theirs = *function;
    *function = driver.wrapped(theirs, symbol, kind_of(flags));
    if (*function == theirs && is_unknown_submission(symbol))
        note_unknown_submission(symbol);
}

} // namespace

bool is_driver_name(const char *name)
{
    return find_entry(name).has_value();
}

void *resolve_name(void *handle, const char *name, const char *version)
{
    if (!real_dlsym() || (version && !real_dlvsym()))
        return nullptr;
    void *address = version ? real_dlvsym()(handle, name, version) : real_dlsym()(handle, name);
    if (!address)
        return nullptr;

    Entry entry = *find_entry(name);
    if (address == wrapper_of(entry)) {
        /*
         * Our export was found because it comes first. Without us there would be a function only if the driver has it.
         */
        if (driver.bind() && driver.has(entry))
            return address;
        return real_dlsym()(RTLD_NEXT, name);
    }
    return driver.bind_to(address) ? driver.wrapped(address, name, kind_of(name)) : address;
}

} // namespace ptsched::preload

using namespace ptsched::preload;

/* The resolver of CUDA 11.3 to 11.8, which programs ask for at version 11030. */
extern "C" PTSCHED_EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version,
                                                    std::uint64_t flags)
{
    bool bound = driver.bind();
    auto real = driver.real<CUresult(const char *, void **, int, std::uint64_t)>(Entry::cuGetProcAddress);
    CUresult result = real(symbol, function, version, flags);
    if (bound && result == CUDA_SUCCESS)
        replace(symbol, function, flags);
    return result;
}

extern "C" PTSCHED_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                                       std::uint64_t flags, CUdriverProcAddressQueryResult *status)
{
    bool bound = driver.bind();
    auto real = driver.real<CUresult(const char *, void **, int, std::uint64_t, CUdriverProcAddressQueryResult *)>(
        Entry::cuGetProcAddress_v2);
    CUresult result = real(symbol, function, version, flags, status);
    if (bound && result == CUDA_SUCCESS)
        replace(symbol, function, flags);
    return result;
}
