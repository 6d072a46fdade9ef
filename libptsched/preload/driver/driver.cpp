// SPDX-License-Identifier: MIT
#include "libptsched/preload/driver/driver.hpp"

#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/loaded/loaded_object.hpp"
#include "libptsched/preload/loaded/real_dlsym.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace ptsched::preload {

constinit Driver driver;

namespace {

CUresult not_in_this_driver()
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult no_driver()
{
    return CUDA_ERROR_NOT_INITIALIZED;
}

constexpr const char *driver_name = "libcuda.so.1";

/* By its name: others export its functions, too. */
bool is_driver_library(const char *path)
{
    constexpr std::string_view any_version = "libcuda.so";
    const char *slash = std::strrchr(path, '/');
    return std::string_view(slash ? slash + 1 : path).starts_with(any_version);
}

struct Search {
    const char *name;
    const void *not_this;
    bool in_drivers_only;
    void *found;
};

int look_in(dl_phdr_info *info, std::size_t, void *context)
{
    auto &search = *static_cast<Search *>(context);
    if (search.in_drivers_only && !is_driver_library(info->dlpi_name))
        return 0;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        auto dynamic = reinterpret_cast<const ElfW(Dyn) *>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        void *found = LoadedObject(info->dlpi_addr, dynamic).function(search.name);
        search.found = found == search.not_this ? nullptr : found;
    }
    return search.found != nullptr;
}

/* Of libraries that were loaded for others, too, where the loader does not look on our behalf. */
void *find_anywhere(Search search)
{
    dl_iterate_phdr(look_in, &search);
    return search.found;
}

template <class Fn> bool load(void *handle, const char *name, Fn *&function)
{
    function = reinterpret_cast<Fn *>(real_dlsym()(handle, name));
    return function != nullptr;
}

} // namespace

bool Driver::bind()
{
    if (bound())
        return true;
    if (config().disabled || !real_dlsym())
        return false;
    if (void *handle = dlopen(driver_name, RTLD_LAZY | RTLD_NOLOAD)) {
        Guard guard(lock_);
        return bound() || load_tables(handle);
    }
    void *init = find_anywhere({"cuInit", nullptr, true, nullptr});
    return init && bind_to(init);
}

bool Driver::bind_to(void *address)
{
    if (bound())
        return true;
    Dl_info info;
    if (config().disabled || !dladdr(address, &info) || !info.dli_fname || !is_driver_library(info.dli_fname))
        return false;
    /* The reference keeps the addresses good when the program closes its own handle. */
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return false;
    Guard guard(lock_);
    return bound() || load_tables(handle);
}

void *Driver::next(Entry entry)
{
    const char *name = entry_name(entry).data();
    void *ours = wrapper_of(entry);
    void *found = real_dlsym() ? real_dlsym()(RTLD_NEXT, name) : nullptr;
    if (!found)
        found = find_anywhere({name, ours, false, nullptr});
    if (!found)
        return reinterpret_cast<void *>(no_driver);
    /* A driver that comes later replaces it. */
    void *none = nullptr;
    real_[static_cast<std::size_t>(entry)].compare_exchange_strong(none, found, std::memory_order_relaxed);
    return found;
}

bool Driver::load_tables(void *handle)
{
    for (std::size_t i = 0; i < entry_count; i++) {
        Entry entry = static_cast<Entry>(i);
        void *address = real_dlsym()(handle, entry_name(entry).data());
        present_[i] = address && address != wrapper_of(entry);
        real_[i].store(present_[i] ? address : reinterpret_cast<void *>(not_in_this_driver), std::memory_order_relaxed);
        if (present_[i])
            by_address_[addresses_++] = {address, entry};
    }
    std::sort(by_address_.begin(), by_address_.begin() + addresses_,
              [](const Address &a, const Address &b) { return a.address < b.address; });
    load_own_calls(handle);
    bound_.store(true, std::memory_order_release);
    return true;
}

void Driver::load_own_calls(void *handle)
{
    OwnCalls &own = own_;
    bool all =
        load(handle, "cuCtxGetCurrent", own.ctx_get_current) && load(handle, "cuCtxPushCurrent_v2", own.ctx_push) &&
        load(handle, "cuCtxPopCurrent_v2", own.ctx_pop) && load(handle, "cuCtxGetDevice", own.ctx_get_device) &&
        load(handle, "cuDeviceGetCount", own.device_count) && load(handle, "cuDeviceGetPCIBusId", own.device_pci) &&
        load(handle, "cuDevicePrimaryCtxGetState", own.primary_state) &&
        load(handle, "cuStreamIsCapturing", own.stream_capturing) && load(handle, "cuStreamQuery", own.stream_query) &&
        load(handle, "cuThreadExchangeStreamCaptureMode", own.exchange_capture_mode) &&
        load(handle, "cuEventCreate", own.event_create) && load(handle, "cuEventRecord", own.event_record) &&
        load(handle, "cuEventQuery", own.event_query) && load(handle, "cuEventDestroy_v2", own.event_destroy) &&
        load(handle, "cuStreamGetCtx", own.stream_ctx);
    usable_ = all && (load(handle, "cuEventElapsedTime_v2", own.event_elapsed) ||
                      load(handle, "cuEventElapsedTime", own.event_elapsed));
    can_probe_ =
        load(handle, "cuStreamCreate", own.stream_create) && load(handle, "cuStreamDestroy_v2", own.stream_destroy) &&
        load(handle, "cuMemPoolCreate", own.pool_create) && load(handle, "cuMemPoolDestroy", own.pool_destroy) &&
        load(handle, "cuMemAllocFromPoolAsync", own.pool_alloc) && load(handle, "cuMemFreeAsync", own.free_async) &&
        load(handle, "cuMemsetD32Async", own.fill_async);
    load(handle, "cuCtxFromGreenCtx", own.ctx_from_green);
    load(handle, "cuDeviceGetAttribute", own.device_attribute);
    load(handle, "cuOccupancyMaxActiveBlocksPerMultiprocessor", own.max_active_blocks);
    load(handle, "cuDeviceGetUuid", own.device_uuid);
    load(handle, "cuDeviceGetUuid_v2", own.instance_uuid);
}

CUcontext Driver::context_of(CUgreenCtx green) const
{
    CUcontext context = nullptr;
    bool found = own_.ctx_from_green && own_.ctx_from_green(&context, green) == CUDA_SUCCESS;
    return found ? context : nullptr;
}

bool Driver::is_capturing(CUstream stream) const
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    /* The legacy stream answers with an error while another stream is being captured. */
    return own_.stream_capturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void *Driver::wrapped(void *address, std::string_view name, DefaultStream kind) const
{
    auto begin = by_address_.begin(), end = begin + addresses_;
    auto first = std::lower_bound(begin, end, address, [](const Address &a, void *b) { return a.address < b; });
    if (first == end || first->address != address)
        return address;

    std::string_view suffix = kind == DefaultStream::per_thread ? "_pt" : "";
    auto fit = [&](std::string_view candidate) {
        bool per_thread = candidate.ends_with("_ptsz") || candidate.ends_with("_ptds");
        return 2 * candidate.starts_with(name) + (per_thread == !suffix.empty());
    };
    auto best = first;
    for (auto other = first; other != end && other->address == address; ++other) {
        if (fit(entry_name(other->entry)) > fit(entry_name(best->entry)))
            best = other;
    }
    return wrapper_of(best->entry);
}

ContextScope::ContextScope(CUcontext context)
{
    CUcontext current = nullptr;
    if (driver.own().ctx_get_current(&current) == CUDA_SUCCESS && current == context)
        return;
    pushed_ = ok_ = driver.own().ctx_push(context) == CUDA_SUCCESS;
}

ContextScope::~ContextScope()
{
    CUcontext popped;
    if (pushed_)
        driver.own().ctx_pop(&popped);
}

} // namespace ptsched::preload
