// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/process.hpp"

#include "libptsched/preload/common/immortal.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/turn/helper.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace ptsched::preload {
namespace {

constinit Immortal<Process> first_process;

/*
 * An instance of a GPU that is divided by MIG shares nothing with the others: it is a device of its own, and its UUID
 * is its name. Else a GPU has that of its place on the bus. The driver tells them apart by what the two functions
 * answer.
 */
void name_device(CUdevice ordinal, const char *address, char (&name)[PTSCHED_NAME_LEN])
{
    CUuuid gpu{}, instance{};
    const OwnCalls &own = driver.own();
    std::strncpy(name, address, sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    if (!own.device_uuid || !own.instance_uuid || own.device_uuid(&gpu, ordinal) != CUDA_SUCCESS ||
        own.instance_uuid(&instance, ordinal) != CUDA_SUCCESS ||
        !std::memcmp(gpu.bytes, instance.bytes, sizeof(gpu.bytes)))
        return;
    char *at = name;
    at += std::snprintf(at, sizeof(name), "MIG");
    for (std::size_t i = 0; i < sizeof(instance.bytes); i++) {
        const bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        at += std::snprintf(at, 4, begins_group ? "-%02x" : "%02x", static_cast<unsigned char>(instance.bytes[i]));
    }
}

} // namespace

constinit Process *process = &first_process.value;

Context *Process::find_context(CUcontext handle)
{
    Guard guard(lock_);
    for (Context *context : contexts_) {
        if (context->handle == handle && context->state != Context::ended)
            return context;
    }
    return nullptr;
}

Device *Process::find_or_add_device(CUdevice ordinal)
{
    unsigned index = 0;
    for (Device *device : devices()) {
        if (device->ordinal() == ordinal)
            return device;
        index++;
    }
    char address[PTSCHED_NAME_LEN] = "";
    if (driver.own().device_pci(address, sizeof(address), ordinal) != CUDA_SUCCESS)
        return nullptr;
    for (char *c = address; *c; c++)
        *c = *c >= 'A' && *c <= 'F' ? static_cast<char>(*c - 'A' + 'a') : *c;
    char name[PTSCHED_NAME_LEN];
    name_device(ordinal, address, name);
    auto *device = new (std::nothrow) Device(index, ordinal, address, name);
    if (!device)
        return nullptr;
    if (last_device_)
        last_device_->set_next(device);
    else
        first_device_.store(device, std::memory_order_release);
    return last_device_ = device;
}

Context *Process::find_or_add_context(CUcontext handle)
{
    if (Context *known = find_context(handle))
        return known;
    CUdevice ordinal;
    {
        ContextScope current(handle);
        if (!current.ok() || driver.own().ctx_get_device(&ordinal) != CUDA_SUCCESS)
            return nullptr;
    }
    Guard guard(lock_);
    int visible = 0;
    driver.own().device_count(&visible);
    for (Context *context : contexts_) {
        if (context->handle == handle && context->state != Context::ended)
            return context;
    }
    Device *device = find_or_add_device(ordinal);
    if (!device)
        return nullptr;
    bool primary = std::find(created_.begin(), created_.end(), handle) == created_.end();
    auto *context = new (std::nothrow) Context{.handle = handle, .device = device, .primary = primary};
    if (!context)
        return nullptr;
    contexts_.push_back(context);
    device->add_context(*context);
    if (contexts_.size() > 1 || visible > 1) {
        several_contexts_.store(true, std::memory_order_relaxed);
        slots_epoch.fetch_add(1, std::memory_order_release);
    }
    return context;
}

void Process::context_is_to_begin()
{
    try {
        if (!freed_.exchange(true, std::memory_order_relaxed))
            Helper::await_freed();
    } catch (const std::bad_alloc &) {
        /* The driver may have the memory that we have not. */
    }
}

void Process::note_context(CUcontext handle, bool created)
{
    Guard guard(lock_);
    if (!contexts_.empty())
        several_contexts_.store(true, std::memory_order_relaxed);
    slots_epoch.fetch_add(1, std::memory_order_release);
    if (created)
        created_.push_back(handle);
}

void Process::stream_ends(CUstream handle)
{
    for (Device *device : devices()) {
        if (device->scheduled())
            device->meter.stream_ends(handle);
    }
    slots_epoch.fetch_add(1, std::memory_order_release);
}

void Process::thread_ends(const Thread &thread)
{
    for (Device *device : devices()) {
        if (device->scheduled())
            device->meter.thread_ends(thread);
    }
}

Device *Process::context_ends(CUcontext handle)
{
    Context *context = find_context(handle);
    if (!context)
        return nullptr;
    context->device->meter.context_ends(*context);
    context->device->preemption.context_ends();
    return context->device;
}

void Process::context_ended(CUcontext handle, Device *device, bool gone)
{
    if (Context *context = find_context(handle)) {
        context->device->meter.context_ended(*context, gone);
        slots_epoch.fetch_add(1, std::memory_order_release);
    }
    if (device && gone)
        device->context_has_ended();
    if (device)
        device->preemption.context_ended();
    Guard guard(lock_);
    if (gone)
        std::erase(created_, handle);
}

Device *Process::primary_context_ends(CUdevice ordinal)
{
    Device *found = nullptr;
    {
        Guard guard(lock_);
        for (Context *context : contexts_) {
            if (!context->primary || context->device->ordinal() != ordinal)
                continue;
            context->device->meter.context_ends(*context);
            found = context->device;
        }
    }
    if (found)
        found->preemption.context_ends();
    return found;
}

void Process::primary_context_ended(CUdevice ordinal, Device *device)
{
    unsigned flags;
    int active = 0;
    bool gone = driver.own().primary_state(ordinal, &flags, &active) != CUDA_SUCCESS || !active;
    Guard guard(lock_);
    for (Context *context : contexts_) {
        if (context->primary && context->device->ordinal() == ordinal && context->state != Context::ended)
            context->device->meter.context_ended(*context, gone);
    }
    if (device && gone)
        device->context_has_ended();
    if (device)
        device->preemption.context_ended();
    slots_epoch.fetch_add(1, std::memory_order_release);
}

std::uint64_t Process::submissions()
{
    std::uint64_t total = 0;
    for (Device *device : devices())
        total += device->submissions();
    return total;
}

void Process::close_inherited()
{
    const Process *parent = nullptr;
    {
        Guard guard(lock_);
        std::swap(parent, parent_);
    }
    if (!parent)
        return;
    for (Device *device : parent->devices())
        ptsched_close(device->client());
}

} // namespace ptsched::preload
