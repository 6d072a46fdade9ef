// SPDX-License-Identifier: MIT
/*
 * How the interposer learns of channels, and which it switches: against a resource manager that does what the test
 * says. Whether a switch has an effect only a device can tell (tests/gpu).
 */
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/rm/rm_abi.h"
#include "tests/vgpu/tap.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

using ptsched::preload::Channels;
namespace rm = ptsched::rm;

namespace {

constexpr int control_fd = 7, other_fd = 8;
constexpr std::uint32_t client = 0xc1d00001, device = 0x5c000001, subdevice = 0x5c000002, second_subdevice = 0x5c000003;
constexpr std::uint32_t copy_engine = 9, hopper = 0xc86f;
constexpr std::uint64_t driver_timeslice = 2048;
constexpr std::uint32_t invalid_channel = 0x21;

/* Channels that are off, and how many times: the driver counts. */
using Off = std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned>;

/* What the resource manager was asked, and how it answers. */
struct Manager {
    Off off;
    std::map<std::uint32_t, std::uint64_t> timeslices; /* of groups; the driver's own where it was never set */
    std::uint64_t shortest = 0;
    unsigned calls = 0;
    std::uint32_t answer = 0;
    std::uint32_t freed = 0; /* a channel that is not there any more */
    bool refuses = false;
};
Manager manager;

int answer_control(rm::Control &call)
{
    auto params = reinterpret_cast<void *>(call.params);
    if (call.command == rm::get_gpu_id) {
        *static_cast<std::uint32_t *>(params) =
            call.object == subdevice || call.object == second_subdevice ? 0x400 : 0x500;
    } else if (call.command == rm::get_pci_info) {
        auto info = static_cast<rm::PciInfo *>(params);
        info->domain = 0;
        info->bus = static_cast<std::uint16_t>(info->gpu_id >> 8);
    } else if (call.command == rm::get_timeslice) {
        auto set = manager.timeslices.find(call.object);
        static_cast<rm::Timeslice *>(params)->us = set == manager.timeslices.end() ? driver_timeslice : set->second;
    } else if (call.command == rm::set_timeslice) {
        std::uint64_t us = static_cast<rm::Timeslice *>(params)->us;
        manager.timeslices[call.object] = std::max(us, manager.shortest);
    } else if (call.command == rm::disable_channels) {
        auto request = static_cast<const rm::DisableChannels *>(params);
        manager.calls++;
        call.status = manager.answer;
        bool unknown = false;
        for (std::uint32_t i = 0; !call.status && i < request->count; i++) {
            std::pair channel(request->clients[i], request->channels[i]);
            if (channel.second == manager.freed)
                unknown = true;
            else if (request->disable)
                manager.off[channel]++;
            else if (manager.off.contains(channel) && !--manager.off[channel])
                manager.off.erase(channel);
        }
        call.status = unknown ? invalid_channel : call.status;
    }
    return 0;
}

class World {
public:
    World() { manager = {}; }

    void allocate(std::uint32_t object_class, std::uint32_t parent, std::uint32_t handle, std::uint32_t engine = 0,
                  int fd = control_fd, std::uint32_t status = 0)
    {
        rm::ChannelGroup group{0, 0, 0, engine};
        char bytes[rm::alloc64_size] = {};
        rm::Alloc alloc{client, parent, handle, object_class, reinterpret_cast<std::uintptr_t>(&group)};
        std::memcpy(bytes, &alloc, sizeof(alloc));
        std::memcpy(bytes + rm::alloc64_status, &status, sizeof(status));
        channels.saw_ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, rm::ioctl_type, rm::esc_alloc, sizeof(bytes)), bytes);
    }
    void free(std::uint32_t handle)
    {
        rm::Free gone{client, 0, handle, 0};
        channels.saw_ioctl(control_fd, _IOWR(rm::ioctl_type, rm::esc_free, rm::Free), &gone);
    }
    /* A context as the driver makes it: a compute group of @count channels and a copy group of one. */
    void context(std::uint32_t count = 2)
    {
        allocate(rm::class_device, client, device);
        allocate(rm::class_subdevice, device, subdevice);
        allocate(rm::class_channel_group, device, 0x100, rm::engine_first_graphics);
        for (std::uint32_t i = 0; i < count; i++)
            allocate(hopper, 0x100, 0x1000 + i);
        allocate(rm::class_channel_group, device, 0x200, copy_engine);
        allocate(hopper, 0x200, 0x2000);
    }
    std::size_t off() const { return manager.off.size(); }

    Channels channels;
};

constexpr const char *address = "0000:04:00.0";

void compute_only()
{
    World world;
    world.context();
    CHECK(world.channels.switch_off(address) == "");
    CHECK(manager.off == (Off{{{client, 0x1000}, 1}, {{client, 0x1001}, 1}}));
    CHECK_EQ(manager.calls, 1u);
    CHECK(world.channels.switch_on(address) == "");
    CHECK_EQ(world.off(), 0u);
}

void many_channels()
{
    World world;
    world.context(2 * rm::disable_channels_max + 1);
    CHECK(world.channels.switch_off(address) == "");
    CHECK_EQ(world.off(), 2u * rm::disable_channels_max + 1);
    CHECK_EQ(manager.calls, 3u);
}

void later_and_gone()
{
    World world;
    world.context();
    world.allocate(hopper, 0x100, 0x1010);
    world.free(0x1000);
    CHECK(world.channels.switch_off(address) == "");
    CHECK(manager.off == (Off{{{client, 0x1001}, 1}, {{client, 0x1010}, 1}}));
    /* With a group its channels go, with the client everything. */
    world.channels.switch_on(address);
    world.allocate(rm::class_channel_group, device, 0x300, rm::engine_last_graphics);
    world.allocate(hopper, 0x300, 0x3000);
    world.free(0x100);
    CHECK(world.channels.switch_off(address) == "");
    CHECK(manager.off == (Off{{{client, 0x3000}, 1}}));
    world.channels.switch_on(address);
    world.free(client);
    CHECK(!world.channels.switch_off(address).empty());
    CHECK_EQ(world.off(), 0u);
}

void another_gpu()
{
    World world;
    world.context();
    world.allocate(rm::class_device, client, 0x6c000001);
    world.allocate(rm::class_subdevice, 0x6c000001, 0x6c000002);
    world.allocate(rm::class_channel_group, 0x6c000001, 0x400, rm::engine_first_graphics);
    world.allocate(hopper, 0x400, 0x4000);
    CHECK(world.channels.switch_off("0000:05:00.0") == "");
    CHECK(manager.off == (Off{{{client, 0x4000}, 1}}));
    CHECK(!world.channels.switch_off("0000:06:00.0").empty());
}

void two_subdevices()
{
    World world;
    world.context();
    world.allocate(rm::class_subdevice, device, second_subdevice);
    CHECK(world.channels.switch_off(address) == "");
    CHECK_EQ(manager.calls, 1u);
}

void not_ours()
{
    World world;
    world.context(0);
    world.allocate(hopper, 0x100, 0x1000, 0, other_fd);
    world.allocate(hopper, 0x100, 0x1001, 0, control_fd, 0x1f);
    world.allocate(0x1234, 0x100, 0x1002);
    CHECK(!world.channels.switch_off(address).empty());
    CHECK_EQ(manager.calls, 0u);
}

void refusals_are_told()
{
    World world;
    world.context();
    manager.answer = 0x23;
    CHECK(world.channels.switch_off(address) == "the driver answers 0x23");
    manager.refuses = true;
    CHECK(!world.channels.switch_off(address).empty());
    CHECK_EQ(world.off(), 0u);
}

/* It is freed by a thread that has not come round to telling so. */
void freed_meanwhile()
{
    World world;
    world.context(3);
    manager.freed = 0x1000;
    CHECK(world.channels.switch_off(address) == "");
    CHECK(manager.off == (Off{{{client, 0x1001}, 1}, {{client, 0x1002}, 1}}));
    manager.freed = 0x1001;
    manager.off.erase({client, 0x1001});
    CHECK(world.channels.switch_on(address) == "");
    CHECK_EQ(world.off(), 0u);
}

void born_while_off()
{
    World world;
    world.context(1);
    CHECK(world.channels.switch_off(address) == "");
    world.allocate(hopper, 0x100, 0x1001);
    world.allocate(hopper, 0x200, 0x2001);
    CHECK(manager.off == (Off{{{client, 0x1000}, 1}, {{client, 0x1001}, 1}}));
    CHECK(world.channels.switch_on(address) == "");
    CHECK_EQ(world.off(), 0u);
    world.allocate(hopper, 0x100, 0x1002);
    CHECK_EQ(world.off(), 0u);
}

void timeslices()
{
    World world;
    world.context();
    CHECK(world.channels.set_timeslice(address, 50) == "");
    CHECK(manager.timeslices == (std::map<std::uint32_t, std::uint64_t>{{0x100, 50}}));
    /* A group that comes later has the driver's own until it is told. */
    std::uint64_t births = world.channels.births();
    world.allocate(rm::class_channel_group, device, 0x300, rm::engine_last_graphics);
    world.allocate(hopper, 0x300, 0x3000);
    CHECK(world.channels.births() != births);
    CHECK(world.channels.set_timeslice(address, 50) == "");
    CHECK_EQ(manager.timeslices[0x300], 50u);
    CHECK(world.channels.set_timeslice(address, 0) == "");
    CHECK_EQ(manager.timeslices[0x100], driver_timeslice);
    CHECK_EQ(manager.timeslices[0x300], driver_timeslice);
}

void compute_groups()
{
    World world;
    CHECK(world.channels.groups(address).empty());
    world.context();
    auto groups = world.channels.groups(address);
    CHECK_EQ(groups.size(), 1u);
    CHECK(groups[0].fd == control_fd && groups[0].client == client && groups[0].handle == 0x100);
    CHECK_EQ(groups[0].channels, 2u);
    CHECK(world.channels.groups("0000:05:00.0").empty());
}

void a_watcher_is_told()
{
    World world;
    world.context();
    std::vector<ptsched::preload::ChannelSet> told;
    auto watcher = [](void *context, const ptsched::preload::ChannelSet &set) {
        static_cast<decltype(told) *>(context)->push_back(set);
    };
    using Handles = std::vector<std::uint32_t>;
    world.channels.watch(watcher, &told);
    CHECK_EQ(told.size(), 1u);
    CHECK(told[0].fd == control_fd && told[0].client == client && told[0].subdevice == subdevice);
    CHECK((told[0].channels == Handles{0x1000, 0x1001}));
    world.allocate(hopper, 0x100, 0x1002);
    CHECK_EQ(told.size(), 2u);
    CHECK((told[1].channels == Handles{0x1000, 0x1001, 0x1002}));
    /* A copy engine's is of no interest. */
    world.allocate(hopper, 0x200, 0x2001);
    CHECK_EQ(told.size(), 2u);
    world.free(0x1001);
    CHECK((told.back().channels == Handles{0x1000, 0x1002}));
    world.free(0x100);
    CHECK_EQ(told.size(), 4u);
    CHECK(told[3].subdevice == subdevice && told[3].channels.empty());
    world.channels.watch(nullptr, nullptr);
    world.allocate(rm::class_channel_group, device, 0x300, rm::engine_first_graphics);
    world.allocate(hopper, 0x300, 0x3000);
    CHECK_EQ(told.size(), 4u);
}

void timeslice_in_words_only()
{
    World world;
    world.context();
    manager.shortest = 1000;
    CHECK(!world.channels.set_timeslice(address, 50).empty());
}

} // namespace

namespace ptsched::rm {

int driver_ioctl(int, unsigned long request, void *argument)
{
    if (manager.refuses)
        return -1;
    return (request & 0xff) == esc_control ? answer_control(*static_cast<Control *>(argument)) : 0;
}

bool is_control_device(int fd)
{
    return fd == control_fd;
}

} // namespace ptsched::rm

int main()
{
    return tap::run({
        {"compute channels are switched, copy engines left alone", compute_only},
        {"more channels than one call takes", many_channels},
        {"channels that come later are known, those that went are forgotten", later_and_gone},
        {"each GPU has its own", another_gpu},
        {"two handles of one device count once", two_subdevices},
        {"other files, failed calls and other classes are not channels", not_ours},
        {"a driver that refuses is quoted", refusals_are_told},
        {"a channel that is freed meanwhile does not keep the others from being switched", freed_meanwhile},
        {"a channel that is made while the others are off is off, too", born_while_off},
        {"a watcher is told of the channels that are, that come and that go", a_watcher_is_told},
        {"time slices of compute groups, and the driver's own again", timeslices},
        {"compute groups and how many channels each has", compute_groups},
        {"a time slice that the driver does not take is found out", timeslice_in_words_only},
    });
}
