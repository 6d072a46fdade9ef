// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/channels.hpp"

#include "libptsched/preload/common/immortal.hpp"
#include "libptsched/rm/rm_abi.h"
#include "libptsched/rm/rm_channels.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

namespace ptsched::preload {

namespace {

constinit Immortal<Channels> first_channels;

constexpr const char *none_seen = "no compute channels were seen being made";

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
    if (!argument || (number != rm::esc_alloc && number != rm::esc_free) || !rm::is_control_device(fd))
        return;
    Guard guard(lock_);
    try {
        if (number == rm::esc_alloc)
            born(fd, request, argument);
        else if (_IOC_SIZE(request) >= sizeof(rm::Free))
            freed(argument);
    } catch (const std::bad_alloc &) {
        /* The driver's call stands, whether its object is known here or not. */
    }
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
    if (object.kind != Kind::channel)
        return;
    take_off_newborn();
    tell();
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
    tell();
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

/* One for each client and GPU, whatever number of subdevices there is. */
std::vector<ChannelSet> Channels::sets() const
{
    std::vector<ChannelSet> found;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const Object &subdevice : objects_) {
        std::pair device{subdevice.client, subdevice.parent};
        if (subdevice.kind != Kind::subdevice || std::find(seen.begin(), seen.end(), device) != seen.end())
            continue;
        ChannelSet set{subdevice.fd, subdevice.client, subdevice.handle, {}};
        for (const Object &object : objects_) {
            if (is_compute(object, subdevice))
                set.channels.push_back(object.handle);
        }
        if (set.channels.empty())
            continue;
        seen.push_back(device);
        found.push_back(std::move(set));
    }
    return found;
}

std::vector<ChannelSet> Channels::sets_at(const char *address) const
{
    std::vector<ChannelSet> found = sets();
    std::erase_if(found,
                  [&](const ChannelSet &set) { return rm::pci_address(set.fd, set.client, set.subdevice) != address; });
    return found;
}

std::string Channels::set(const char *address, bool off)
{
    Guard guard(lock_);
    std::erase(off_, address);
    std::vector<ChannelSet> sets = sets_at(address);
    std::string error = sets.empty() ? none_seen : "";
    /* One that fails does not keep the others off. */
    for (const ChannelSet &set : sets) {
        std::string problem = rm::switch_channels(set.fd, set.client, set.subdevice, set.channels, off);
        error = error.empty() ? problem : error;
    }
    if (off && error.empty())
        off_.emplace_back(address);
    return error;
}

/* The youngest object is a channel: where the others of its device are off, it goes off, too. */
void Channels::take_off_newborn()
{
    const Object &newborn = objects_.back();
    for (const std::string &address : off_) {
        for (const ChannelSet &set : sets_at(address.c_str())) {
            if (set.client == newborn.client && set.channels.back() == newborn.handle)
                rm::switch_channels(set.fd, set.client, set.subdevice, {&newborn.handle, 1}, true);
        }
    }
}

void Channels::watch(Watcher watcher, void *context)
{
    Guard guard(lock_);
    watcher_ = watcher;
    watchers_context_ = context;
    told_.clear();
    tell();
}

void Channels::tell()
{
    if (!watcher_)
        return;
    std::vector<ChannelSet> now = sets();
    auto same = [](const ChannelSet &one) {
        return
            [&one](const ChannelSet &other) { return one.client == other.client && one.subdevice == other.subdevice; };
    };
    for (const ChannelSet &old : told_) {
        if (std::none_of(now.begin(), now.end(), same(old)))
            watcher_(watchers_context_, {old.fd, old.client, old.subdevice, {}});
    }
    for (const ChannelSet &set : now) {
        if (std::find(told_.begin(), told_.end(), set) == told_.end())
            watcher_(watchers_context_, set);
    }
    told_ = std::move(now);
}

bool Channels::set_group_timeslice(Object &group, std::uint64_t us) const
{
    auto exchange = [&](std::uint32_t command, rm::Timeslice &slice) {
        return rm::control(group.fd, group.client, group.handle, command, &slice, sizeof(slice)) == 0;
    };
    rm::Timeslice slice{group.timeslice_us};
    if (!slice.us && !exchange(rm::get_timeslice, slice))
        return false;
    group.timeslice_us = slice.us;
    slice.us = us ? us : group.timeslice_us;
    std::uint64_t wanted_us = slice.us;
    return exchange(rm::set_timeslice, slice) && exchange(rm::get_timeslice, slice) && slice.us == wanted_us;
}

std::vector<Channels::Object *> Channels::groups_at(const char *address)
{
    std::vector<Object *> found;
    for (const ChannelSet &set : sets_at(address)) {
        const Object *subdevice = find(set.client, set.subdevice);
        for (Object &object : objects_) {
            if (is_compute_group(object, *subdevice))
                found.push_back(&object);
        }
    }
    return found;
}

std::string Channels::set_timeslice(const char *address, std::uint64_t us)
{
    Guard guard(lock_);
    std::vector<Object *> groups = groups_at(address);
    bool taken = false;
    /* One that is refused may be just being freed by another thread. */
    for (Object *group : groups)
        taken |= set_group_timeslice(*group, us);
    return taken ? "" : groups.empty() ? none_seen : "the driver does not take a time slice";
}

std::vector<ComputeGroup> Channels::groups(const char *address)
{
    Guard guard(lock_);
    std::vector<ComputeGroup> found;
    for (const Object *group : groups_at(address)) {
        auto count = std::count_if(objects_.begin(), objects_.end(), [&](const Object &object) {
            return object.kind == Kind::channel && object.client == group->client && object.parent == group->handle;
        });
        found.push_back({group->fd, group->client, group->handle, static_cast<std::size_t>(count)});
    }
    return found;
}

std::uint64_t Channels::births()
{
    Guard guard(lock_);
    return births_;
}

} // namespace ptsched::preload
