// SPDX-License-Identifier: MIT
/* Single calls and their errors. */
#include "tests/conformance/calls.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>

using namespace scheduler;

namespace {

template <typename Argument> Argument sized()
{
    Argument argument{};
    argument.size = sizeof(argument);
    return argument;
}

TEST("query tells version, features, devices and the page's size")
{
    RawClient client;
    auto query = sized<struct ptsched_query>();
    CHECK_EQ(0, client.call(PTSCHED_IOC_QUERY, query));
    CHECK_EQ(PTSCHED_VERSION_MAJOR, query.version_major);
    CHECK_EQ(PTSCHED_VERSION_MINOR, query.version_minor);
    CHECK_EQ(PTSCHED_FEATURE_PAGE | PTSCHED_FEATURE_ACT_FOR | PTSCHED_FEATURE_NETLINK | PTSCHED_FEATURE_ABOVE |
                 PTSCHED_FEATURE_GROUP,
             query.features);
    CHECK_EQ(2, query.nr_devices);
    CHECK_EQ(sysconf(_SC_PAGESIZE), query.page_size);
    CHECK_EQ(sizeof(query), query.size);
}

TEST("a smaller structure than that of version 1.0 is EINVAL, and outputs stay")
{
    RawClient client;
    struct ptsched_query query;
    memset(&query, 0xcc, sizeof(query));
    query.size = sizeof(query) - 8;
    query.flags = 0;
    auto before = query;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_QUERY, &query, query.size));
    CHECK(memcmp(&before, &query, sizeof(query)) == 0);
}

TEST("each call's structure is that of 1.0 at least, and what is beyond today's is zero or E2BIG")
{
    RawClient client;
    CHECK_EQ(0, client.attach(kDevice));
    for (const Call &call : kCalls) {
        char bytes[256] = {};
        auto issue = [&](std::uint32_t size) {
            memcpy(bytes, &size, sizeof(size));
            return client.call(call.number, bytes, size);
        };
        CHECK_EQ(-EINVAL, issue(call.first - 4));
        bytes[call.size] = 1;
        CHECK_EQ(-E2BIG, issue(call.size + 4));
    }
}

TEST("a larger structure is accepted while what is unknown is zero, else E2BIG")
{
    RawClient client;
    struct {
        struct ptsched_query query;
        std::uint64_t more;
    } larger{};
    larger.query.size = sizeof(larger);
    CHECK_EQ(0, client.call(PTSCHED_IOC_QUERY, larger));
    CHECK_EQ(PTSCHED_VERSION_MAJOR, larger.query.version_major);
    CHECK_EQ(sizeof(larger), larger.query.size);
    larger.more = 1;
    CHECK_EQ(-E2BIG, client.call(PTSCHED_IOC_QUERY, larger));
}

TEST("unknown flags, reserved fields and kinds are EINVAL")
{
    RawClient client;
    auto query = sized<struct ptsched_query>();
    query.flags = 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_QUERY, query));
    CHECK_EQ(0, query.version_major);

    auto attach = sized<struct ptsched_attach>();
    strcpy(attach.device, kDevice);
    attach.flags = PTSCHED_ATTACH_NODE << 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ATTACH, attach));
    attach.flags = 0;
    attach.node = 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ATTACH, attach));
    attach.node = 0;
    attach.pad = 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ATTACH, attach));
    CHECK_EQ(-EINVAL, client.attach(kDevice, PTSCHED_MECHANISM_PREEMPT + 1));
    CHECK_EQ(0, client.attach(kDevice));

    auto acquire = sized<struct ptsched_acquire>();
    acquire.flags = PTSCHED_ACQUIRE_ABOVE << 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ACQUIRE, acquire));
    auto act_for = sized<struct ptsched_act_for>();
    act_for.fd = -1;
    act_for.pad = 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ACT_FOR, act_for));
    act_for.pad = 0;
    act_for.kind = PTSCHED_ACT_FOR_CLIENT + 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ACT_FOR, act_for));
    auto hand_over = sized<struct ptsched_hand_over>();
    hand_over.flags = 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_HAND_OVER, hand_over));
}

TEST("an unknown call is ENOTTY")
{
    RawClient client;
    std::uint32_t argument[4] = {sizeof(argument)};
    CHECK_EQ(-ENOTTY, client.call(_IOWR(PTSCHED_IOC_MAGIC, 0x7f, argument), argument));
    CHECK_EQ(-ENOTTY, client.call(_IOWR(PTSCHED_IOC_MAGIC - 1, 0, argument), argument));
}

TEST("before attaching, calls are ENOTCONN")
{
    RawClient client;
    for (const Call &call : kCalls)
        if (call.caller == PTSC_OWNER)
            CHECK_EQ(-ENOTCONN, call.in_order(client));
}

TEST("a device is named by address or UUID in either case")
{
    for (const char *name : {kDevice, kUuid, "FFFF:01:00.0", "0000ffff:01:00.0"})
        CHECK_EQ(0, RawClient().attach(name));
}

TEST("an unknown device is ENODEV, what is no name EINVAL, a second attach EBUSY")
{
    RawClient client;
    CHECK_EQ(-ENODEV, client.attach("ffff:7f:00.0"));
    CHECK_EQ(-ENODEV, client.attach("GPU-12345678-1234-1234-1234-123456789abc"));
    for (const char *name : {"", "0", "gpu0", "01:00.0", "ffff:01:00", "ffff:01:00.0 ", "ffff:01:00.8", "ffff:01:20.0",
                             "GPU-", "GPU-00000000-0000-0000-0000-00000000001", "MIG-0"})
        CHECK_EQ(-EINVAL, client.attach(name));
    CHECK_EQ(0, client.attach(kDevice));
    CHECK_EQ(-EBUSY, client.attach(kDevice));
    CHECK_EQ(-EBUSY, client.attach(kOtherDevice));
}

TEST("a device's name must end within its field and be padded with zeros")
{
    RawClient client;
    auto attach = sized<struct ptsched_attach>();
    memset(attach.device, 'f', sizeof(attach.device));
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ATTACH, attach));
    memset(attach.device, 0, sizeof(attach.device));
    strcpy(attach.device, kDevice);
    attach.device[sizeof(attach.device) - 1] = 'x';
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_ATTACH, attach));
}

TEST("the library names what is wrong when it cannot open")
{
    ptsched_client *client = nullptr;
    CHECK_EQ(-ENODEV, ptsched_open("ffff:7f:00.0", PTSCHED_MECHANISM_GATE, backend(), &client));
    CHECK_EQ(-EINVAL, ptsched_open("nonsense", PTSCHED_MECHANISM_GATE, backend(), &client));
    CHECK_EQ(-EINVAL, ptsched_open(std::string(200, 'f').c_str(), PTSCHED_MECHANISM_GATE, backend(), &client));
    CHECK_EQ(-EINVAL, ptsched_open(nullptr, PTSCHED_MECHANISM_GATE, backend(), &client));
    CHECK_EQ(-EINVAL, ptsched_open(kDevice, 99, backend(), &client));
    CHECK(client == nullptr);
    setenv("PTSCHED_DEVICE_NODE", "/nonexistent/ptsched", 1);
    setenv("PTSCHED_SOCKET", "/nonexistent/broker.sock", 1);
    CHECK_EQ(-ENOENT, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_AUTO, &client));
    CHECK_EQ(-ENOENT, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_MODULE, &client));
    CHECK_EQ(-ENOENT, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER, &client));
}

TEST("the clients of a process are one entity on a device, and another on another")
{
    ptsched_client *first, *second, *other;
    CHECK_EQ(0, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, backend(), &first));
    CHECK_EQ(0, ptsched_open(kUuid, PTSCHED_MECHANISM_SLICE, PTSCHED_BACKEND_AUTO, &second));
    CHECK_EQ(0, ptsched_open(kOtherDevice, PTSCHED_MECHANISM_GATE, backend(), &other));
    CHECK_EQ(backend(), ptsched_client_backend(second));
    std::uint32_t first_device, second_device, other_device;
    std::uint64_t first_entity, second_entity, other_entity;
    CHECK_EQ(0, ptsched_identity(first, &first_device, &first_entity));
    CHECK_EQ(0, ptsched_identity(second, &second_device, &second_entity));
    CHECK_EQ(0, ptsched_identity(other, &other_device, &other_entity));
    CHECK_EQ(first_device, second_device);
    CHECK_EQ(first_entity, second_entity);
    CHECK(first_device != other_device);
    CHECK(first_entity != other_entity);
    CHECK_EQ(2, entity(getpid())->at(PTSCHED_A_CLIENTS));
    CHECK_EQ(PTSCHED_MECHANISM_SLICE, entity(getpid())->at(PTSCHED_A_MECHANISM));
    for (ptsched_client *client : {first, second, other})
        ptsched_close(client);
    ptsched_close(nullptr);
    wait_until_gone(getpid());
}

TEST("weights are those of the CPU scheduler")
{
    CHECK_EQ(88761, ptsched_nice_to_weight(-20));
    CHECK_EQ(1024, ptsched_nice_to_weight(0));
    CHECK_EQ(15, ptsched_nice_to_weight(19));
    CHECK_EQ(15, ptsched_nice_to_weight(100));
    CHECK_EQ(88761, ptsched_nice_to_weight(-100));
}

} // namespace
