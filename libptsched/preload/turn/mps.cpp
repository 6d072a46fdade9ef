// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/mps.hpp"

#include <ptsched/base/fd.hpp>

#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ptsched::preload {
namespace {

/* The control daemon and the server both: the kernel keeps 15 characters of a name. */
constexpr char servers_name[] = "nvidia-cuda-mps";

bool has_servers_name(pid_t pid)
{
    char path[32], name[sizeof(servers_name)] = "";
    std::snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
    constexpr ssize_t length = sizeof(servers_name) - 1;
    return file && read(file.get(), name, length) == length && !std::strcmp(name, servers_name);
}

/* In the folder of a control daemon, or the one in which programs look without being told. */
bool finds_server()
{
    const char *folder = secure_getenv("CUDA_MPS_PIPE_DIRECTORY");
    char path[PATH_MAX];
    std::snprintf(path, sizeof(path), "%s/control", folder ? folder : "/tmp/nvidia-mps");
    return access(path, F_OK) == 0;
}

/* What there is to know of the socket; -1: it is none. */
int option(int fd, int name)
{
    int value;
    socklen_t size = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, name, &value, &size) ? -1 : value;
}

bool leads_to_server(int fd)
{
    constexpr uid_t nobody = ~uid_t{0};
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (option(fd, SO_DOMAIN) != AF_UNIX || option(fd, SO_TYPE) != SOCK_SEQPACKET ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid == nobody)
        return false;
    return peer.pid ? has_servers_name(peer.pid) : finds_server();
}

} // namespace

bool is_mps_client()
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return false;
    bool found = false;
    while (const dirent *entry = found ? nullptr : readdir(folder)) {
        int fd;
        const char *name = entry->d_name;
        found = std::from_chars(name, name + std::strlen(name), fd).ec == std::errc() && leads_to_server(fd);
    }
    closedir(folder);
    return found;
}

} // namespace ptsched::preload
