// SPDX-License-Identifier: MIT
#include "tools/ptschedd/cgroup.hpp"

#include "libptsched/client/cgroup2_mounts.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/ptsched.h>
#include <sstream>
#include <string_view>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ptsched {
namespace {

/* Where the hierarchy is mounted. */
struct Mount {
    std::string point;        /* empty: nowhere */
    std::string root;         /* the name of the cgroup that the mount shows as its root; empty: the root */
    std::uint64_t number = 0; /* of that cgroup */
};

Mount find_mount()
{
    for (const auto &[point, root] : cgroup2_mounts()) {
        struct stat status;
        if (stat(point.c_str(), &status) == 0)
            return {point, root == "/" ? "" : root, status.st_ino};
    }
    return {};
}

const Mount &cgroup_mount()
{
    static const Mount found = find_mount();
    return found;
}

bool is_cgroup_directory(int fd, struct stat &status)
{
    struct statfs system;
    return fstatfs(fd, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC && fstat(fd, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Never what is above a mount: anybody can put one in a directory of his own, in a namespace of his own. */
UniqueFd open_above(int fd)
{
    struct open_how how {};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_XDEV;
    return UniqueFd(static_cast<int>(syscall(SYS_openat2, fd, "..", &how, sizeof(how))));
}

} // namespace

bool has_cgroups()
{
    return !cgroup_mount().point.empty();
}

UniqueFd open_cgroup_file(pid_t pid)
{
    return UniqueFd(open(("/proc/" + std::to_string(pid) + "/cgroup").c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::string> read_cgroup_name(int file)
{
    std::string text(4096, '\0');
    ssize_t got;
    while ((got = pread(file, text.data(), text.size(), 0)) == static_cast<ssize_t>(text.size()))
        text.resize(2 * text.size());
    if (got < 0)
        return std::nullopt;
    text.resize(static_cast<std::size_t>(got));
    /* Behind the lines of hierarchies of version 1, if there are any. */
    constexpr std::string_view mark = "0::";
    std::size_t line = text.starts_with(mark) ? 0 : text.find("\n0::");
    if (line == text.npos)
        return "/";
    const std::size_t name = text.find('/', line);
    return name == text.npos ? "/" : text.substr(name, text.find('\n', name) - name);
}

CgroupPath path_of_cgroup(const std::string &name)
{
    const Mount &mount = cgroup_mount();
    /* Others are not below the root that can be seen; in a cgroup namespace their names begin with "/..". */
    if (!has_cgroups() || !name.starts_with(mount.root + "/"))
        return {};
    CgroupPath path;
    UniqueFd at(open(mount.point.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    std::istringstream parts(name.substr(mount.root.size() + 1));
    for (std::string part; path.size() < PTSCHED_CGROUP_DEPTH && std::getline(parts, part, '/') && part != "..";) {
        at.reset(openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat status;
        if (!at || fstat(at.get(), &status) < 0)
            break;
        path.push_back(status.st_ino);
    }
    return path;
}

std::optional<FoundCgroup> find_cgroup(int fd, std::string &fault)
{
    FoundCgroup found{};
    struct stat status;
    if (!is_cgroup_directory(fd, status)) {
        fault = "not a directory of cgroup2";
        return std::nullopt;
    }
    const std::uint64_t root = cgroup_mount().number;
    if (status.st_ino == root) {
        fault = "the root has no share";
        return std::nullopt;
    }
    UniqueFd above;
    while (status.st_ino != root) {
        if (found.path.size() == PTSCHED_CGROUP_DEPTH) {
            fault = "deeper than " + std::to_string(PTSCHED_CGROUP_DEPTH) + " levels: it counts to the cgroup there";
            return std::nullopt;
        }
        found.path.insert(found.path.begin(), status.st_ino);
        above = open_above(above ? above.get() : fd);
        if (!above || fstat(above.get(), &status) < 0) {
            fault = "not below the root that the broker sees";
            return std::nullopt;
        }
        if (found.path.size() == 1)
            found.above = status;
    }
    return found;
}

bool cgroup_is_gone(int fd)
{
    return faccessat(fd, "cgroup.procs", F_OK, 0) < 0 && errno == ENOENT;
}

} // namespace ptsched
