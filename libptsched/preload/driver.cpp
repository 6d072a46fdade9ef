/* SPDX-License-Identifier: MIT */
#include "driver.hpp"

#include "dlsym.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace ptsched::preload {

constinit Driver driver;

namespace {

CUresult not_in_this_driver()
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

bool is_driver_library(const char *path)
{
    const char *slash = std::strrchr(path, '/');
    return std::strncmp(slash ? slash + 1 : path, "libcuda.so", std::strlen("libcuda.so")) == 0;
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
    if (!real_dlsym())
        return false;
    if (void *init = real_dlsym()(RTLD_NEXT, "cuInit"))
        return bind_to(init);
    void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return false;
    std::lock_guard guard(lock_);
    return bound() || load_tables(handle);
}

bool Driver::bind_to(void *address)
{
    if (bound())
        return true;
    Dl_info info;
    link_map *map = nullptr;
    if (!dladdr1(address, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) || !map ||
        !is_driver_library(map->l_name))
        return false;
    /* The reference keeps the addresses good when the program closes its own handle. */
    void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return false;
    std::lock_guard guard(lock_);
    return bound() || load_tables(handle);
}

bool Driver::load_tables(void *handle)
{
    for (std::size_t i = 0; i < entry_count; i++) {
        Entry entry = static_cast<Entry>(i);
        void *address = real_dlsym()(handle, entry_name(entry).data());
        present_[i] = address && address != wrapper_of(entry);
        real_[i] = present_[i] ? address : reinterpret_cast<void *>(not_in_this_driver);
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
        load(handle, "cuStreamIsCapturing", own.stream_capturing) &&
        load(handle, "cuThreadExchangeStreamCaptureMode", own.exchange_capture_mode) &&
        load(handle, "cuEventCreate", own.event_create) && load(handle, "cuEventRecord", own.event_record) &&
        load(handle, "cuEventQuery", own.event_query) && load(handle, "cuEventDestroy_v2", own.event_destroy) &&
        load(handle, "cuStreamGetCtx", own.stream_ctx);
    usable_ = all && (load(handle, "cuEventElapsedTime_v2", own.event_elapsed) ||
                      load(handle, "cuEventElapsedTime", own.event_elapsed));
    can_probe_ = load(handle, "cuStreamCreate", own.stream_create) &&
                 load(handle, "cuStreamDestroy_v2", own.stream_destroy) &&
                 load(handle, "cuMemAlloc_v2", own.mem_alloc) && load(handle, "cuMemsetD32Async", own.fill_async);
    load(handle, "cuCtxFromGreenCtx", own.ctx_from_green);
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
