// SPDX-License-Identifier: MIT
#include "tools/ptsched/cgroups.hpp"

#include "libptsched/client/cgroup2_mounts.hpp"
#include "tools/ptsched/units.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <dirent.h>
#include <linux/magic.h>
#include <memory>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <vector>

namespace ptsched {

namespace {

/* Who may make directories may make any number of them. */
constexpr std::size_t most_directories = 65536;

/* Where the hierarchy is from its root on; empty: nowhere. */
std::string mount_point()
{
    for (const Cgroup2Mount &mount : cgroup2_mounts())
        if (mount.root == "/")
            return mount.point;
    return {};
}

bool is_cgroup(const UniqueFd &directory)
{
    struct statfs status;
    return fstatfs(directory.get(), &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC;
}

struct Directory {
    std::uint64_t id;
    std::string path; /* below the mount point; that one's is empty */
};

/* Those in @parent; none if it is gone. */
std::vector<Directory> directories_in(const std::string &point, const std::string &parent)
{
    std::vector<Directory> found;
    std::unique_ptr<DIR, int (*)(DIR *)> open(opendir((point + parent).c_str()), closedir);

    while (const dirent *entry = open ? readdir(open.get()) : nullptr) {
        const std::string name = entry->d_name;
        if (entry->d_type == DT_DIR && name != "." && name != "..")
            found.push_back({entry->d_ino, parent + "/" + name});
    }
    return found;
}

} // namespace

UniqueFd open_cgroup(const std::string &path)
{
    const std::string point = mount_point();
    std::vector<std::string> places = {path};
    std::string problem;

    if (!point.empty())
        places.push_back(point + (path.starts_with('/') ? "" : "/") + path);
    for (const std::string &place : places) {
        UniqueFd directory(open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        problem = place + ": " + (directory ? "not of cgroup2" : strerror(errno));
        if (directory && is_cgroup(directory))
            return directory;
    }
    throw Error("--cgroup " + path + ": give a directory of cgroup2, or a path as /proc/PID/cgroup has it (" + problem +
                    ")",
                2);
}

std::uint32_t cpu_weight(const UniqueFd &cgroup, const std::string &path)
{
    UniqueFd file(openat(cgroup.get(), "cpu.weight", O_RDONLY | O_CLOEXEC));
    std::array<char, 32> buffer{};
    const ssize_t length = file ? read(file.get(), buffer.data(), buffer.size()) : -1;

    if (length < 0)
        throw Error("--cgroup " + path + " weight=auto: its cpu.weight cannot be read: " + strerror(errno) +
                        "; it is there where cgroup.subtree_control of the cgroup above has cpu",
                    2);
    std::string text(buffer.data(), static_cast<std::size_t>(length));
    while (text.ends_with('\n'))
        text.pop_back();
    return static_cast<std::uint32_t>(parse_integer("cpu.weight", text, 1, PTSCHED_SHARE_MAX));
}

void CgroupPaths::find(std::set<std::uint64_t> ids)
{
    std::erase_if(ids, [this](std::uint64_t id) { return !paths_.try_emplace(id).second; });
    const std::string point = ids.empty() ? "" : mount_point();
    struct stat root;
    if (point.empty() || stat(point.c_str(), &root))
        return;

    /* Level by level: what the scheduler knows of is not deep. */
    std::deque<Directory> left = {{root.st_ino, ""}};
    for (std::size_t seen = 0; !left.empty() && !ids.empty() && seen < most_directories; seen++) {
        const Directory directory = std::move(left.front());
        left.pop_front();
        if (ids.erase(directory.id))
            paths_[directory.id] = directory.path.empty() ? "/" : directory.path;
        for (Directory &inner : directories_in(point, directory.path))
            left.push_back(std::move(inner));
    }
}

std::string CgroupPaths::of(std::uint64_t id) const
{
    auto found = paths_.find(id);
    return found == paths_.end() ? std::string() : found->second;
}

} // namespace ptsched
