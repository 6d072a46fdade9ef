// SPDX-License-Identifier: MIT
/*
 * Cgroups that are not the kernel's, in place of tools/ptschedd/cgroup.cpp: which one a process is in, its nice value
 * says, and any file but a device is the directory of one.
 */
#include "tools/ptschedd/cgroup.hpp"

#include <fcntl.h>
#include <iterator>
#include <linux/ptsched.h>
#include <sstream>

namespace ptsched {
namespace {

/* By nice value, again and again. */
constexpr const char *kNames[] = {"/", "/1", "/1/2", "/3", "/3/1/1/1/1/1/1/1/1/1"};

bool is_memfd(int fd)
{
    return fcntl(fd, F_GET_SEALS) >= 0;
}

} // namespace

UniqueFd open_cgroup_file(pid_t pid)
{
    return UniqueFd(open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::string> read_cgroup_name(int file)
{
    char text[1024];
    ssize_t got = pread(file, text, sizeof(text), 0);
    if (got <= 0)
        return std::nullopt;
    std::string line(text, static_cast<std::size_t>(got));
    /* Behind the command's name are 16 fields, and then the nice value. */
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    std::string skipped;
    for (int i = 0; i < 16; i++)
        fields >> skipped;
    int nice = 0;
    fields >> nice;
    return kNames[static_cast<std::size_t>(nice + 20) % std::size(kNames)];
}

/* A number is the name without what separates its parts. */
CgroupPath path_of_cgroup(const std::string &name)
{
    CgroupPath path;
    std::uint64_t number = 0;
    for (char c : name)
        if (c != '/' && path.size() < PTSCHED_CGROUP_DEPTH)
            path.push_back(number = 10 * number + static_cast<std::uint64_t>(c - '0'));
    return path;
}

std::optional<FoundCgroup> find_cgroup(int fd, std::string &fault)
{
    FoundCgroup found{};
    struct stat status;
    if (fstat(fd, &status) < 0 || S_ISCHR(status.st_mode)) {
        fault = "not a directory of cgroup2";
        return std::nullopt;
    }
    found.path = path_of_cgroup(is_memfd(fd) ? "/1/2" : "/3");
    found.above.st_mode = S_IFDIR | 0755;
    return found;
}

bool cgroup_is_gone(int fd)
{
    return is_memfd(fd);
}

} // namespace ptsched
