// SPDX-License-Identifier: MIT
/* Time that is divided among cgroups. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/forked.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/waiting.hpp"

#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

using namespace scheduler;
using forked::check_as;

namespace {

constexpr uid_t kUser = 65530;
constexpr gid_t kGroup = 65529;

std::string mount_point()
{
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    std::string found;
    while (mntent *mount = mounts ? getmntent(mounts) : nullptr)
        if (found.empty() && !strcmp(mount->mnt_type, "cgroup2"))
            found = mount->mnt_dir;
    if (mounts)
        endmntent(mounts);
    if (found.empty())
        throw tap::Skipped("cgroup2 is not mounted here");
    return found;
}

void move_to(const std::string &directory, const Actor &actor)
{
    ptsched::UniqueFd file(open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    const std::string pid = std::to_string(actor.pid());
    CHECK_EQ(pid.size(), write(file.get(), pid.data(), pid.size()));
}

/* One that is made for a case. It must outlive the processes that are moved to it. */
class Cgroup {
public:
    explicit Cgroup(const char *name) : Cgroup(mount_point() + "/ptsched-test-" + std::to_string(getpid()) + "-" + name)
    {
    }
    Cgroup(const Cgroup &above, const char *name) : Cgroup(above.path_ + "/" + name) {}
    Cgroup(const Cgroup &) = delete;
    Cgroup &operator=(const Cgroup &) = delete;
    ~Cgroup() { rmdir(path_.c_str()); }

    void take(const Actor &actor) const { move_to(path_, actor); }
    const std::string &path() const { return path_; }
    int fd() const { return fd_.get(); }
    std::int64_t number() const { return number_; }

private:
    explicit Cgroup(const std::string &path) : path_(path)
    {
        if (mkdir(path.c_str(), 0755) < 0)
            throw tap::Skipped("no cgroup can be made here: " + path + ": " + strerror(errno));
        fd_.reset(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        struct stat status;
        CHECK_EQ(0, fstat(fd(), &status));
        number_ = static_cast<std::int64_t>(status.st_ino);
    }

    std::string path_;
    ptsched::UniqueFd fd_;
    std::int64_t number_ = 0;
};

Reply set_share(int fd, std::uint32_t share)
{
    return request(PTSCHED_CMD_SET_CGROUP, {{PTSCHED_A_CGROUP_FD, fd}, {PTSCHED_A_SHARE, share}});
}

Attributes account_of(const Cgroup &cgroup)
{
    auto found = account(PTSCHED_A_CGROUP, cgroup.number());
    CHECK(found);
    return *found;
}

/* 0: the root, or none. */
std::int64_t cgroup_of(const Actor &actor)
{
    Attributes seen = *entity(actor.pid());
    return seen.contains(PTSCHED_A_CGROUP) ? seen[PTSCHED_A_CGROUP] : 0;
}

void take_turn(Actor &actor)
{
    CHECK_EQ(0, actor.acquire().result);
    CHECK_EQ(0, actor.release(1000));
}

void divide_among_cgroups()
{
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_CGROUP}});
}

TEST("time is divided among cgroups, however many processes are in them")
{
    Cgroup three("three"), one("one");
    divide_among_cgroups();
    Waiting waiting(4, [&](Actor &actor, std::size_t i) { (i < 3 ? three : one).take(actor); });
    CHECK_EQ(3, account_of(three)[PTSCHED_A_ENTITIES]);
    CHECK_EQ(1, account_of(one)[PTSCHED_A_ENTITIES]);
    waiting.await_ratio(3, 1);
}

TEST("a cgroup has its share against those beside it")
{
    Cgroup rich("rich"), other("other");
    divide_among_cgroups();
    CHECK_EQ(0, set_share(rich.fd(), 300).error);
    Waiting waiting(2, [&](Actor &actor, std::size_t i) { (i ? other : rich).take(actor); });
    CHECK_EQ(300, account_of(rich)[PTSCHED_A_SHARE]);
    CHECK_EQ(PTSCHED_SHARE_DEFAULT, account_of(other)[PTSCHED_A_SHARE]);
    waiting.await_ratio(1, 3);
}

TEST("a cgroup's share that is changed counts from then on")
{
    Cgroup rich("rich"), other("other");
    divide_among_cgroups();
    Waiting waiting(2, [&](Actor &actor, std::size_t i) { (i ? other : rich).take(actor); });
    CHECK_EQ(0, set_share(rich.fd(), 10 * PTSCHED_SHARE_DEFAULT).error);
    waiting.await_ratio(1, 10);
}

TEST("cgroups in one divide what that one has")
{
    Cgroup above("above"), left(above, "left"), right(above, "right"), beside("beside");
    divide_among_cgroups();
    Waiting waiting(3, [&](Actor &actor, std::size_t i) { (i == 0 ? left : i == 1 ? right : beside).take(actor); });
    CHECK_EQ(2, account_of(above)[PTSCHED_A_ENTITIES]);
    CHECK(!account_of(above).contains(PTSCHED_A_PARENT_CGROUP));
    CHECK_EQ(above.number(), account_of(left)[PTSCHED_A_PARENT_CGROUP]);
    waiting.await_ratio(2, 1);
}

TEST("a process is in the cgroup that it is in when it asks for the turn, and its time is that one's")
{
    Cgroup above("above"), first(above, "first"), second("second");
    divide_among_cgroups();
    Actor stays, moves;
    for (Actor *actor : {&stays, &moves}) {
        first.take(*actor);
        actor->join();
        take_turn(*actor);
        CHECK_EQ(first.number(), cgroup_of(*actor));
    }
    second.take(moves);
    CHECK_EQ(first.number(), cgroup_of(moves));
    take_turn(moves);
    CHECK_EQ(second.number(), cgroup_of(moves));
    for (const Cgroup *cgroup : {&above, &first}) {
        CHECK_EQ(1, account_of(*cgroup)[PTSCHED_A_ENTITIES]);
        CHECK_EQ(2000, account_of(*cgroup)[PTSCHED_A_GPU_NS]);
    }
    CHECK_EQ(1000, account_of(second)[PTSCHED_A_GPU_NS]);
    move_to(mount_point(), moves);
    take_turn(moves);
    CHECK_EQ(0, cgroup_of(moves));
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_PROCESS}});
    take_turn(stays);
    CHECK_EQ(0, cgroup_of(stays));
}

TEST("a process that waits is in its cgroup's group from when it waits next")
{
    Cgroup one("one"), other("other");
    divide_among_cgroups();
    /* Each is alone in its cgroup when it begins to wait, and all are in one afterwards. */
    Waiting waiting(2, [&](Actor &actor, std::size_t i) { (i ? other : one).take(actor); });
    CHECK_EQ(0, set_share(one.fd(), 300).error);
    one.take(waiting.actor(1));
    waiting.await_ratio(1, 3);
    CHECK_EQ(other.number(), cgroup_of(waiting.actor(1)));
}

TEST("what is deeper than PTSCHED_CGROUP_DEPTH counts to the cgroup at that depth")
{
    struct Chain : std::deque<Cgroup> {
        ~Chain()
        {
            while (!empty())
                pop_back();
        }
    } chain;
    chain.emplace_back("chain");
    for (std::size_t depth = 1; depth < PTSCHED_CGROUP_DEPTH + 2; depth++)
        chain.emplace_back(chain.back(), "below");
    divide_among_cgroups();
    Actor actor;
    chain.back().take(actor);
    actor.join();
    take_turn(actor);
    CHECK_EQ(chain[PTSCHED_CGROUP_DEPTH - 1].number(), cgroup_of(actor));
}

TEST("the share of what is no cgroup is EBADF or EINVAL, one that is none ERANGE")
{
    Cgroup cgroup("one");
    CHECK_EQ(-EBADF, set_share(-1, 200).error);
    ptsched::UniqueFd root(open(mount_point().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ptsched::UniqueFd file(open((cgroup.path() + "/cgroup.procs").c_str(), O_RDONLY | O_CLOEXEC));
    ptsched::UniqueFd folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (const ptsched::UniqueFd *wrong : {&root, &file, &folder}) {
        Reply reply = set_share(wrong->get(), 200);
        CHECK_EQ(-EINVAL, reply.error);
        CHECK_EQ(PTSCHED_A_CGROUP_FD, reply.attribute);
    }
    for (std::uint32_t share : {0, PTSCHED_SHARE_MAX + 1}) {
        Reply reply = set_share(cgroup.fd(), share);
        CHECK_EQ(-ERANGE, reply.error);
        CHECK_EQ(PTSCHED_A_SHARE, reply.attribute);
    }
    CHECK_EQ(-EINVAL, request(PTSCHED_CMD_SET_CGROUP, {{PTSCHED_A_CGROUP_FD, cgroup.fd()}}).error);
    CHECK_EQ(-EINVAL, request(PTSCHED_CMD_SET_CGROUP, {{PTSCHED_A_SHARE, 200}}).error);
    Reply reply = request(PTSCHED_CMD_SET_CGROUP,
                          {{PTSCHED_A_CGROUP_FD, cgroup.fd()}, {PTSCHED_A_SHARE, 200}, {PTSCHED_A_DEVICE_ID, 1000000}});
    CHECK_EQ(-ENODEV, reply.error);
    CHECK_EQ(PTSCHED_A_DEVICE_ID, reply.attribute);
}

TEST("a cgroup's share is set by who may write the directory that it is in, and shown to who may see all")
{
    Cgroup above("above"), inside(above, "inside");
    auto tries_both = [&](int error_inside) {
        return [&, error_inside] {
            CHECK_EQ(-EPERM, set_share(above.fd(), 200).error);
            CHECK_EQ(error_inside, set_share(inside.fd(), 200).error);
            Reply reply = request(PTSCHED_CMD_GET_ACCOUNT, {});
            CHECK_EQ(0, reply.error);
            for (const Attributes &account : reply.messages)
                CHECK(!account.contains(PTSCHED_A_CGROUP));
        };
    };
    check_as(kUser, kGroup, tries_both(-EPERM));
    CHECK_EQ(0, chown(above.path().c_str(), kUser, 0));
    check_as(kUser, kGroup, tries_both(0));
    CHECK_EQ(200, account_of(inside)[PTSCHED_A_SHARE]);
    /* By its groups, and not if it is the owner, whom the mode denies it. */
    CHECK_EQ(0, chown(above.path().c_str(), 0, kGroup));
    check_as(kUser, kGroup, tries_both(-EPERM));
    CHECK_EQ(0, chmod(above.path().c_str(), 0575));
    check_as(kUser, kGroup, tries_both(0));
    CHECK_EQ(0, chown(above.path().c_str(), kUser, kGroup));
    check_as(kUser, kGroup, tries_both(-EPERM));
}

/* Bind-mounts @cgroup at @place, in a mount namespace of the caller's own. */
bool mount_at(const Cgroup &cgroup, const Cgroup &place)
{
    return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount(cgroup.path().c_str(), place.path().c_str(), nullptr, MS_BIND, nullptr) == 0;
}

TEST("a cgroup that somebody mounts in a directory of his own is not his for that")
{
    constexpr int kNotTried = 77;
    Cgroup other("other"), own("own"), place(own, "place");
    CHECK_EQ(0, chown(own.path().c_str(), kUser, 0));
    int status = forked::result_of([&] {
        if (!mount_at(other, place))
            return kNotTried;
        ptsched::UniqueFd mounted(open(place.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        struct stat seen;
        CHECK_EQ(0, fstat(mounted.get(), &seen));
        CHECK_EQ(other.number(), seen.st_ino);
        check_as(kUser, kGroup, [&] { CHECK(set_share(mounted.get(), 200).error < 0); });
        return 0;
    });
    if (status == kNotTried)
        throw tap::Skipped("nothing can be mounted here");
    CHECK_EQ(0, status);
    CHECK(!account(PTSCHED_A_CGROUP, other.number()));
}

} // namespace
