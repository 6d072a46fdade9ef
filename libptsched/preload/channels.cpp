/* SPDX-License-Identifier: MIT */
#include "channels.hpp"

#include "immortal.hpp"
#include "rm_abi.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace ptsched::preload {

namespace {

constinit Immortal<Channels> first_channels;

/* Zero, or the driver's status, or -1 where there was none. */
int control(int fd, std::uint32_t client, std::uint32_t object, std::uint32_t command, void *params, std::uint32_t size)
{
    rm::Control call{client, object, command, 0, reinterpret_cast<std::uintptr_t>(params), size, 0};
    if (!is_control_device(fd) || real_ioctl(fd, _IOWR(rm::ioctl_type, rm::esc_control, rm::Control), &call) < 0)
        return -1;
    return static_cast<int>(call.status);
}

} // namespace

constinit Channels *channels = &first_channels.value;

void Channels::forget()
{
    /* The lock may be held by a thread that is no more. */
    channels = new Channels;
}

void Channels::saw_driver_ioctl(int fd, unsigned long request, const void *argument)
{
    unsigned number = request & 0xff;
    if (!argument || (number != rm::esc_alloc && number != rm::esc_free) || !is_control_device(fd))
        return;
    std::lock_guard guard(lock_);
    if (number == rm::esc_alloc)
        born(fd, request, argument);
    else if (_IOC_SIZE(request) >= sizeof(rm::Free))
        freed(argument);
}

void Channels::born(int fd, unsigned long request, const void *argument)
{
    rm::Alloc alloc;
    std::uint32_t status = ~0u;
    std::size_t size = _IOC_SIZE(request);
    auto bytes = static_cast<const char *>(argument);
    if (size != rm::alloc21_size && size != rm::alloc64_size)
        return;
    std::memcpy(&alloc, bytes, sizeof(alloc));
    std::memcpy(&status, bytes + (size == rm::alloc21_size ? rm::alloc21_status : rm::alloc64_status), sizeof(status));
    if (status)
        return;

    Object object{Kind::device, fd, alloc.root, alloc.object, alloc.parent, false, 0};
    if (alloc.object_class == rm::class_subdevice) {
        object.kind = Kind::subdevice;
    } else if (alloc.object_class == rm::class_channel_group) {
        object.kind = Kind::group;
        if (alloc.params) {
            auto group = reinterpret_cast<const rm::ChannelGroup *>(alloc.params);
            object.compute = group->engine >= rm::engine_first_graphics && group->engine <= rm::engine_last_graphics;
        }
    } else if (std::find(std::begin(rm::channel_classes), std::end(rm::channel_classes), alloc.object_class) !=
               std::end(rm::channel_classes)) {
        object.kind = Kind::channel;
    } else if (alloc.object_class != rm::class_device) {
        return;
    }
    objects_.push_back(object);
    if (object.kind != Kind::group && object.kind != Kind::channel)
        return;
    births_++;
    if (object.kind == Kind::channel)
        take_off_newborn();
}

void Channels::freed(const void *argument)
{
    rm::Free gone;
    std::memcpy(&gone, argument, sizeof(gone));
    if (gone.status)
        return;
    if (gone.object == gone.root)
        std::erase_if(objects_, [&](const Object &object) { return object.client == gone.root; });
    else
        erase_below(gone.root, gone.object);
}

/* The driver frees an object's children with it. */
void Channels::erase_below(std::uint32_t client, std::uint32_t handle)
{
    std::erase_if(objects_, [&](const Object &object) { return object.client == client && object.handle == handle; });
    for (;;) {
        auto child = std::find_if(objects_.begin(), objects_.end(), [&](const Object &object) {
            return object.client == client && object.parent == handle;
        });
        if (child == objects_.end())
            return;
        erase_below(client, child->handle);
    }
}

const Channels::Object *Channels::find(std::uint32_t client, std::uint32_t handle) const
{
    auto found = std::find_if(objects_.begin(), objects_.end(),
                              [&](const Object &object) { return object.client == client && object.handle == handle; });
    return found == objects_.end() ? nullptr : &*found;
}

/* Whether it is a compute group of the subdevice's device. */
bool Channels::is_compute_group(const Object &object, const Object &subdevice) const
{
    return object.kind == Kind::group && object.compute && object.client == subdevice.client &&
           object.parent == subdevice.parent;
}

/* Whether it is a channel of such a group. */
bool Channels::is_compute(const Object &channel, const Object &subdevice) const
{
    if (channel.kind != Kind::channel || channel.client != subdevice.client)
        return false;
    const Object *group = find(channel.client, channel.parent);
    return group && is_compute_group(*group, subdevice);
}

/* The driver says so itself: CUDA's ordinals and the driver's need not be the same. */
bool Channels::is_at(const Object &subdevice, const char *address) const
{
    rm::PciInfo info{};
    char found[32];
    if (control(subdevice.fd, subdevice.client, subdevice.handle, rm::get_gpu_id, &info.gpu_id, sizeof(info.gpu_id)) ||
        control(subdevice.fd, subdevice.client, subdevice.client, rm::get_pci_info, &info, sizeof(info)))
        return false;
    std::snprintf(found, sizeof(found), "%04x:%02x:%02x.0", info.domain, info.bus, info.slot);
    return std::strcmp(found, address) == 0;
}

std::string Channels::set_some(const Object &subdevice, bool off, const Object *only)
{
    rm::DisableChannels call{};
    call.disable = off;
    auto flush = [&]() -> std::string {
        int status = call.count ? control(subdevice.fd, subdevice.client, subdevice.handle, rm::disable_channels, &call,
                                          sizeof(call))
                                : 0;
        call.count = 0;
        char text[64];
        if (status < 0)
            return "the driver does not take the call";
        std::snprintf(text, sizeof(text), "the driver answers 0x%x", status);
        return status ? text : "";
    };
    for (const Object &object : objects_) {
        if (!is_compute(object, subdevice) || (only && only != &object))
            continue;
        call.clients[call.count] = object.client;
        call.channels[call.count++] = object.handle;
        if (call.count < rm::disable_channels_max)
            continue;
        if (std::string error = flush(); !error.empty())
            return error;
    }
    return flush();
}

/*
 * Calls @function, which returns an error or "", for one subdevice of each client that has channels on the GPU at
 * @address.
 */
template <typename Function> std::string Channels::on_device(const char *address, Function function)
{
    bool found = false;
    for (const Object &subdevice : objects_) {
        if (subdevice.kind != Kind::subdevice)
            continue;
        auto same_device = [&](const Object &other) {
            return other.kind == Kind::subdevice && other.client == subdevice.client &&
                   other.parent == subdevice.parent;
        };
        if (&*std::find_if(objects_.begin(), objects_.end(), same_device) != &subdevice || !is_at(subdevice, address))
            continue;
        bool has_channels = std::any_of(objects_.begin(), objects_.end(),
                                        [&](const Object &object) { return is_compute(object, subdevice); });
        if (!has_channels)
            continue;
        if (std::string error = function(subdevice); !error.empty())
            return error;
        found = true;
    }
    return found ? "" : "no compute channels were seen being made";
}

std::string Channels::set(const char *address, bool off)
{
    std::lock_guard guard(lock_);
    std::erase(off_, address);
    std::string error = on_device(address, [&](const Object &subdevice) { return set_some(subdevice, off); });
    if (off && error.empty())
        off_.emplace_back(address);
    return error;
}

/* The youngest object is a channel: where the others of its device are off, it goes off, too. */
void Channels::take_off_newborn()
{
    for (const std::string &address : off_)
        on_device(address.c_str(),
                  [&](const Object &subdevice) { return set_some(subdevice, true, &objects_.back()); });
}

std::string Channels::set_group_timeslice(Object &group, std::uint64_t us) const
{
    rm::Timeslice slice{0}, wanted;
    if (!group.timeslice_us) {
        if (control(group.fd, group.client, group.handle, rm::get_timeslice, &slice, sizeof(slice)))
            return "the driver does not tell a time slice";
        group.timeslice_us = slice.us;
    }
    slice.us = wanted.us = us ? us : group.timeslice_us;
    if (control(group.fd, group.client, group.handle, rm::set_timeslice, &slice, sizeof(slice)) ||
        control(group.fd, group.client, group.handle, rm::get_timeslice, &slice, sizeof(slice)) ||
        slice.us != wanted.us)
        return "the driver does not take a time slice";
    return "";
}

std::string Channels::set_timeslice(const char *address, std::uint64_t us)
{
    std::lock_guard guard(lock_);
    return on_device(address, [&](const Object &subdevice) {
        std::string error;
        for (Object &object : objects_) {
            if (error.empty() && is_compute_group(object, subdevice))
                error = set_group_timeslice(object, us);
        }
        return error;
    });
}

std::uint64_t Channels::births()
{
    std::lock_guard guard(lock_);
    return births_;
}

} // namespace ptsched::preload
