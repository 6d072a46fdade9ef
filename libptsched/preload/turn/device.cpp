/* SPDX-License-Identifier: MIT */
#include "libptsched/preload/turn/device.hpp"

#include "libptsched/base/clock.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/common/warn.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/loaded/unwinder.hpp"
#include "libptsched/preload/turn/agent.hpp"
#include "libptsched/preload/turn/helper.hpp"
#include "libptsched/preload/turn/mps.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace ptsched::preload {

const std::uint32_t Device::open_state = PTSCHED_STATE_TURN;

namespace {

/* In this state every submission is measured. */
constexpr std::uint32_t measuring = PTSCHED_STATE_EXACT;

constinit std::atomic<bool> warned_absent{false}, warned_refused{false}, warned_gone{false}, warned_lost{false};

void copy_name(char (&to)[PTSCHED_NAME_LEN], const char *from)
{
    std::strncpy(to, from, sizeof(to) - 1);
    to[sizeof(to) - 1] = '\0';
}

/*
 * An instance of a GPU that is divided by MIG shares nothing with the others: it is a device of its own, and its UUID
 * is its name. Else a GPU has that of its place on the bus. The driver tells them apart by what the two functions
 * answer.
 */
void name_device(CUdevice ordinal, const char *address, char (&name)[PTSCHED_NAME_LEN])
{
    CUuuid gpu{}, instance{};
    const OwnCalls &own = driver.own();
    copy_name(name, address);
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

Device::Device(unsigned index, CUdevice ordinal, const char *address, const char *name)
    : index_(index), ordinal_(ordinal), state_word_(&open_state)
{
    copy_name(address_, address);
    copy_name(name_, name);
}

void Device::attach()
{
    std::call_once(attached_, [this] {
        ask_for_heavy_barrier();
        watch_thread_ends([](const Thread &thread) { process->thread_ends(thread); });
        register_exit_handler();
        load_unwinder();
        if (!driver.usable()) {
            warn_once(warned_refused,
                      "running unscheduled, because this CUDA driver lacks calls that scheduling needs");
            return;
        }
        process->close_inherited();
        ptsched_client *client = nullptr;
        int error = ptsched_open(name_, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_AUTO, &client);
        if (error) {
            warn_once(error == -ENODEV || error == -EPROTO ? warned_refused : warned_absent,
                      "running unscheduled on device %s, because %s", name_, ptsched_strerror(error));
            return;
        }
        if (!start_agent()) {
            ptsched_close(client);
            warn_once(warned_refused, "running unscheduled, because no thread can be started");
            return;
        }
        client_ = client;
        page_ = ptsched_client_page(client);
        shares_channels_ = is_mps_client();
        if (shares_channels_)
            meter.weigh(ordinal_);
        state_word_.store(&page_->state, std::memory_order_release);
        debug("attached to %s", name_);
        wake_agent();
    });
}

void Device::get_ready(Context &context)
{
    attach();
    if (!scheduled())
        return;
    CaptureModeScope relaxed;
    meter.get_ready(context);
}

/* Whether it was not so before. */
bool Device::open_word()
{
    const std::uint32_t *word = state_word();
    if (word == &open_state || !state_word_.compare_exchange_strong(word, &open_state))
        return false;
    slots_epoch.fetch_add(1, std::memory_order_release);
    preemption.try_put_back(*this);
    closing.store(false, std::memory_order_release);
    announce_change();
    return true;
}

void Device::open_gate(const char *why)
{
    open_for_lost_context_.store(false, std::memory_order_release);
    if (open_word())
        warn_once(warned_gone, "running on unscheduled, because %s", why);
}

void Device::open_gate_of_lost_context()
{
    open_for_lost_context_.store(true, std::memory_order_release);
    if (open_word())
        warn_once(warned_lost,
                  "device %s: the driver reports error %d for a context: running on unscheduled until it ends",
                  address_, meter.error());
}

void Device::context_has_ended()
{
    meter.forget_error();
    if (!open_for_lost_context_.exchange(false, std::memory_order_acq_rel))
        return;
    state_word_.store(&page_->state, std::memory_order_release);
    slots_epoch.fetch_add(1, std::memory_order_release);
    debug("%s: scheduled again", address_);
    wake_agent();
}

void Device::scheduler_is_gone()
{
    /* The client knows why; if it is not gone after all, nothing else of it is of use. */
    struct ptsched_query query;
    int error = ptsched_query(client_, &query);
    open_gate(ptsched_strerror(error ? error : -EPIPE));
}

std::uint64_t Device::submissions() const
{
    std::uint64_t total = submissions_.load(std::memory_order_acquire);
    if (index_ >= counted_devices)
        return total;
    for (Thread *thread = first_thread(); thread; thread = thread->next)
        total += thread->submissions[index_].load(std::memory_order_acquire);
    return total;
}

bool Device::all_measured(std::uint32_t events, std::uint32_t state)
{
    if (unmeasured.load(std::memory_order_acquire))
        return false;
    std::uint32_t fenced = fenced_.load(std::memory_order_acquire);
    bool measured = fenced_state_.load(std::memory_order_relaxed) & measuring;
    if (fenced == events)
        return measured || submissions() == fenced_submissions_.load(std::memory_order_relaxed);
    if (events != fenced + 1 || !measured || !(state & measuring))
        return false;
    set_fenced(events, state, 0);
    return true;
}

void Device::begin_measured()
{
    std::uint32_t events = __atomic_load_n(&page_->events, __ATOMIC_ACQUIRE);
    std::uint32_t state = this->state();
    if (state & measuring)
        set_fenced(events, state, 0);
}

void Device::set_fenced(std::uint32_t events, std::uint32_t state, std::uint64_t submissions)
{
    fenced_submissions_.store(submissions, std::memory_order_relaxed);
    fenced_state_.store(state, std::memory_order_relaxed);
    fenced_.store(events, std::memory_order_release);
}

ptsched_usage Device::take_usage(std::uint64_t ended)
{
    ptsched_usage usage{};
    std::uint64_t total = submissions();
    std::uint64_t before = reported_submissions_.exchange(total, std::memory_order_relaxed);
    usage.submissions =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(total > before ? total - before : 0, UINT32_MAX));
    usage.gpu_ns = meter.take_gpu_ns(ended);
    counters.gpu_ns.fetch_add(usage.gpu_ns, std::memory_order_relaxed);
    turn_gpu_ns_.fetch_add(usage.gpu_ns, std::memory_order_relaxed);
    return usage;
}

void Device::report(std::uint64_t now, std::uint64_t interval_ns)
{
    std::uint64_t before = reported_ns_.load(std::memory_order_relaxed);
    /* Without the turn it would be lost: a thread may have been submitting when that was given back. */
    if (!(state() & PTSCHED_STATE_TURN) || now - before < interval_ns ||
        !reported_ns_.compare_exchange_strong(before, now))
        return;
    ptsched_usage usage = take_usage(0);
    ptsched_report(client_, &usage);
}

void Device::report_rest(std::uint64_t submissions)
{
    ptsched_usage usage = take_usage(submissions);
    ptsched_report(client_, &usage);
}

void Device::report_end(std::uint64_t now)
{
    /* Before the look at what is in flight: a thread may still submit. */
    std::uint64_t submissions = this->submissions();
    meter.reap(now);
    report_rest(meter.idle() ? submissions : 0);
}

void Device::announce_change()
{
    changes.fetch_add(1, std::memory_order_release);
    wake_waiters(changes);
}

void Device::wait_for_change(std::uint32_t seen, std::uint64_t at_most_ns)
{
    wait_while(changes, seen, at_most_ns);
}

/* ---- the process ---- */

Context *Process::find_context(CUcontext handle)
{
    std::lock_guard guard(lock_);
    for (Context *context : contexts_) {
        if (context->handle == handle && context->state != Context::ended)
            return context;
    }
    return nullptr;
}

Context *Process::any_context(const Device &device)
{
    std::lock_guard guard(lock_);
    for (Context *context : contexts_) {
        if (context->device == &device && context->state == Context::alive)
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
    std::lock_guard guard(lock_);
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

void Process::context_begins(CUcontext handle, bool created)
{
    if (find_context(handle))
        return;
    try {
        note_context(handle, created);
        if (this_thread && this_thread->is_exempt())
            return;
        if (Context *context = find_or_add_context(handle))
            context->device->get_ready(*context);
    } catch (const std::bad_alloc &) {
        /* It is taken for a primary one; the first submission finds what there is. */
    }
}

void Process::note_context(CUcontext handle, bool created)
{
    std::lock_guard guard(lock_);
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
    context->device->preemption.context_ends(*context->device);
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
    std::lock_guard guard(lock_);
    if (gone)
        std::erase(created_, handle);
}

Device *Process::primary_context_ends(CUdevice ordinal)
{
    Device *found = nullptr;
    {
        std::lock_guard guard(lock_);
        for (Context *context : contexts_) {
            if (!context->primary || context->device->ordinal() != ordinal)
                continue;
            context->device->meter.context_ends(*context);
            found = context->device;
        }
    }
    if (found)
        found->preemption.context_ends(*found);
    return found;
}

void Process::primary_context_ended(CUdevice ordinal, Device *device)
{
    unsigned flags;
    int active = 0;
    bool gone = driver.own().primary_state(ordinal, &flags, &active) != CUDA_SUCCESS || !active;
    std::lock_guard guard(lock_);
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
        std::lock_guard guard(lock_);
        std::swap(parent, parent_);
    }
    if (!parent)
        return;
    for (Device *device : parent->devices())
        ptsched_close(device->client());
}

} // namespace ptsched::preload
