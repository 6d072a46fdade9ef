// SPDX-License-Identifier: MIT
/* Devices on which only those have turns who can open a node in /dev. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace scheduler;

namespace {

constexpr char kNode[] = "/dev/null";
constexpr char kInstance[] = "MIG-00000000-0000-0000-0000-0000000000b1";

int set_node(std::uint64_t node)
{
    return request(PTSCHED_CMD_SET_DEVICE, {{PTSCHED_A_DEVICE_ID, device().at(PTSCHED_A_DEVICE_ID)},
                                            {PTSCHED_A_NODE, static_cast<std::int64_t>(node)}})
        .error;
}

/* The first device has that node as long as this lives. */
class Demanded {
public:
    Demanded()
    {
        struct stat status;
        CHECK_EQ(0, stat(kNode, &status));
        number_ = PTSCHED_NODE(major(status.st_rdev), minor(status.st_rdev));
        CHECK_EQ(0, set_node(number_));
    }
    ~Demanded() { set_node(0); }
    std::uint64_t number() const { return number_; }

private:
    std::uint64_t number_;
};

/* The case goes on as an ordinary user, who has no CAP_SYS_NICE. */
class Ordinary {
public:
    Ordinary() { CHECK_EQ(0, seteuid(kNobody)); }
    ~Ordinary()
    {
        if (seteuid(0) < 0)
            abort();
    }
};

struct ptsched_attach attach_to(const char *name, std::uint32_t flags, int node)
{
    struct ptsched_attach attach {};
    attach.size = sizeof(attach);
    attach.flags = flags;
    attach.node = node;
    std::string(name).copy(attach.device, sizeof(attach.device));
    return attach;
}

int attach_with(const char *name, int node)
{
    RawClient client;
    struct ptsched_attach attach = attach_to(name, PTSCHED_ATTACH_NODE, node);
    return client.call(PTSCHED_IOC_ATTACH, &attach, sizeof(attach), node);
}

/* As version 1.0 did it. */
int attach_without(const char *name)
{
    RawClient client;
    struct ptsched_attach attach = attach_to(name, 0, 0);
    attach.size = offsetof(struct ptsched_attach, node);
    return client.call(PTSCHED_IOC_ATTACH, &attach, attach.size);
}

int attach_with_file(const char *name, const char *path, int flags)
{
    ptsched::UniqueFd file(open(path, flags | O_CLOEXEC));
    CHECK(file);
    return attach_with(name, file.get());
}

TEST("where a node is demanded, who does not show it open for writing is EACCES")
{
    Demanded demanded;
    CHECK_EQ(demanded.number(), device().at(PTSCHED_A_NODE));
    Actor user;
    user.become(kNobody);
    CHECK_EQ(-EACCES, user.open(kDevice));
    Ordinary here;
    CHECK_EQ(-EACCES, attach_without(kDevice));
    CHECK_EQ(-EACCES, attach_with_file(kDevice, "/dev/zero", O_RDWR));
    CHECK_EQ(-EACCES, attach_with_file(kDevice, kNode, O_RDONLY));
    ptsched::UniqueFd file(memfd_create("file", MFD_CLOEXEC));
    CHECK_EQ(-EACCES, attach_with(kDevice, file.get()));
    CHECK_EQ(-EBADF, attach_with(kDevice, -1));
    CHECK_EQ(0, attach_with_file(kDevice, kNode, O_RDWR));
    CHECK_EQ(0, attach_with_file(kDevice, kNode, O_WRONLY));
}

TEST("the node of one device is not asked for on another, nor of who has CAP_SYS_NICE, nor once it is taken back")
{
    Actor user;
    user.become(kNobody);
    {
        Demanded demanded;
        CHECK_EQ(0, attach_without(kDevice));
        Ordinary here;
        CHECK_EQ(0, attach_without(kOtherDevice));
    }
    CHECK_EQ(0, user.open(kDevice));
}

TEST("an instance asks for the node of any GPU")
{
    {
        Ordinary here;
        CHECK_EQ(0, attach_without(kInstance));
    }
    /* It is forgotten by and by. */
    wait_until([] { return request(PTSCHED_CMD_GET_DEVICE, {}).messages.size() == 2; });
    Demanded demanded;
    Ordinary here;
    CHECK_EQ(-EACCES, attach_without(kInstance));
    CHECK_EQ(0, attach_with_file(kInstance, kNode, O_RDWR));
}

TEST("a node is set for one device, by who may")
{
    Reply reply = request(PTSCHED_CMD_SET_DEVICE, {{PTSCHED_A_NODE, 1}});
    CHECK_EQ(-EINVAL, reply.error);
    CHECK_EQ(PTSCHED_A_NODE, reply.attribute);
    CHECK_EQ(0, device().at(PTSCHED_A_NODE));
}

} // namespace
