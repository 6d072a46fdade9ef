// SPDX-License-Identifier: MIT
/* Instances of a GPU that MIG divides. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <cerrno>
#include <cstdio>
#include <vector>

using namespace scheduler;

namespace {

constexpr std::size_t kGpus = 2;

std::size_t devices()
{
    return request(PTSCHED_CMD_GET_DEVICE, {}).messages.size();
}

/* What a case has brought along is gone: others count devices, too. */
void until_forgotten()
{
    wait_until([] { return devices() == kGpus; });
}

std::string instance(unsigned group, int number)
{
    char name[PTSCHED_NAME_LEN];
    snprintf(name, sizeof(name), "MIG-00000000-0000-0000-%04x-%012x", group, number);
    return name;
}

TEST("instances are devices of their own, which do not take turns with one another")
{
    Actor one, other, second;
    CHECK_EQ(0, one.open("MIG-00000000-0000-0000-0000-0000000000a1"));
    CHECK_EQ(0, second.open("MIG-00000000-0000-0000-0000-0000000000a2"));
    CHECK_EQ(0, other.open("mig-00000000-0000-0000-0000-0000000000A1"));
    CHECK_EQ(0, one.try_acquire());
    CHECK_EQ(0, second.try_acquire());
    CHECK_EQ(-EAGAIN, other.try_acquire());
    CHECK_EQ(0, one.release());
    CHECK_EQ(0, other.acquire().result);
    for (Actor *actor : {&one, &other, &second})
        actor->kill();
    until_forgotten();
}

TEST("an instance is known as long as somebody has it")
{
    Actor one, other;
    CHECK_EQ(0, one.open(instance(0, 1).c_str()));
    CHECK_EQ(0, other.open(instance(0, 2).c_str()));
    CHECK_EQ(kGpus + 2, devices());
    one.close_client();
    wait_until([] { return devices() == kGpus + 1; });
    other.kill();
    until_forgotten();
}

TEST("names of instances that nobody has any more make room for others, and there is an end to them")
{
    constexpr int more_than_fit = 300, sixteen_gpus = 16 * 7;
    for (int i = 0; i < more_than_fit; i++)
        CHECK_EQ(0, RawClient().attach(instance(1, i).c_str()));
    {
        std::vector<RawClient> clients(sixteen_gpus + 1);
        for (int i = 0; i < sixteen_gpus; i++)
            CHECK_EQ(0, clients[i].attach(instance(2, i).c_str()));
        CHECK_EQ(-ENODEV, clients.back().attach(instance(2, sixteen_gpus).c_str()));
        CHECK_EQ(0, clients.back().attach(instance(2, 0).c_str()));
    }
    until_forgotten();
}

} // namespace
