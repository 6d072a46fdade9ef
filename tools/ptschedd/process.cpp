// SPDX-License-Identifier: MIT
#include "tools/ptschedd/process.hpp"

#include "libptsched/base/pidfd.hpp"
#include "tools/ptschedd/cgroup.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sstream>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace ptsched {
namespace {

/* The line that begins with @field, without it. */
std::optional<std::string> field_of(const std::string &path, const char *field)
{
    std::ifstream file(path);
    std::string line;
    std::size_t length = strlen(field);
    while (std::getline(file, line)) {
        if (line.compare(0, length, field) == 0)
            return line.substr(line.find_first_not_of(" \t", length));
    }
    return std::nullopt;
}

std::string proc(pid_t pid, const char *name)
{
    return "/proc/" + std::to_string(pid) + "/" + name;
}

ino_t inode_of(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

ino_t inode_of(const std::string &path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

} // namespace

Process::Process(pid_t pid, uid_t uid, UniqueFd pidfd) : pid_(pid), uid_(uid), pidfd_(std::move(pidfd))
{
    std::istringstream numbers(status("NSpid:").value_or(std::to_string(pid)));
    for (pid_t number; numbers >> number;)
        numbers_.push_back({0, number});
    if (numbers_.size() < 2)
        return;
    UniqueFd space(open(proc(pid_, "ns/pid").c_str(), O_RDONLY | O_CLOEXEC));
    for (std::size_t level = numbers_.size() - 1; level > 0 && space; level--) {
        numbers_[level].space = inode_of(space.get());
        space.reset(ioctl(space.get(), NS_GET_PARENT));
    }
}

pid_t Process::pid_for(const Process &viewer) const
{
    if (numbers_.size() < viewer.numbers_.size() || viewer.numbers_.empty())
        return 0;
    const std::size_t level = viewer.numbers_.size() - 1;
    const ino_t space = viewer.numbers_[level].space;
    return level && (!space || space != numbers_[level].space) ? 0 : numbers_[level].pid;
}

bool Process::exited() const
{
    return gone || has_exited(pidfd_.get());
}

int Process::nice() const
{
    if (gone)
        return nice_;
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(pid_));
    if (nice != -1 || errno == 0)
        nice_ = nice;
    return nice_;
}

std::string Process::comm() const
{
    if (gone)
        return comm_;
    std::ifstream file(proc(pid_, "comm"));
    std::string name;
    if (std::getline(file, name))
        comm_ = name;
    return comm_;
}

std::optional<std::string> Process::status(const char *field) const
{
    return field_of(proc(pid_, "status"), field);
}

pid_t Process::parent() const
{
    auto text = status("PPid:");
    return text ? static_cast<pid_t>(strtol(text->c_str(), nullptr, 10)) : 0;
}

bool Process::has_debugger() const
{
    auto text = status("TracerPid:");
    return text && strtol(text->c_str(), nullptr, 10) != 0;
}

bool Process::is_stopped() const
{
    auto text = status("State:");
    return text && text->find('T') != std::string::npos;
}

bool Process::runs_with_rights_of_a_file() const
{
    std::ifstream file(proc(pid_, "auxv"), std::ios::binary);
    for (std::array<unsigned long, 2> entry; file.read(reinterpret_cast<char *>(&entry), sizeof(entry));)
        if (entry[0] == AT_SECURE)
            return entry[1] != 0;
    return true;
}

bool Process::has_cap_sys_nice(uid_t opener) const
{
    if (opener != 0 && (owner() != opener || runs_with_rights_of_a_file()))
        return false;
    static const ino_t own_space = inode_of("/proc/self/ns/user");
    auto text = status("CapEff:");
    return own_space && inode_of(proc(pid_, "ns/user")) == own_space && text &&
           (strtoull(text->c_str(), nullptr, 16) >> CAP_SYS_NICE & 1);
}

std::optional<uid_t> Process::effective_uid() const
{
    unsigned real, effective;
    auto text = status("Uid:");
    if (!text || sscanf(text->c_str(), "%u %u", &real, &effective) != 2)
        return std::nullopt;
    return effective;
}

std::optional<uid_t> Process::owner() const
{
    unsigned real, effective, saved;
    auto text = gone ? std::nullopt : status("Uid:");
    if (text && sscanf(text->c_str(), "%u %u %u", &real, &effective, &saved) == 3)
        owner_ = real == effective && real == saved ? std::optional<uid_t>(real) : std::nullopt;
    return owner_;
}

std::optional<std::string> Process::cgroup() const
{
    if (!cgroup_file_) {
        UniqueFd file = open_cgroup_file(pid_);
        /* The number may have been another process's already. */
        if (exited())
            return std::nullopt;
        cgroup_file_ = std::move(file);
    }
    return cgroup_file_ ? read_cgroup_name(cgroup_file_.get()) : std::nullopt;
}

Process *ProcessTable::find(pid_t pid) const
{
    auto found = processes_.find(pid);
    return found == processes_.end() ? nullptr : found->second.process.lock().get();
}

ProcessRef ProcessTable::known(pid_t pid)
{
    auto found = processes_.find(pid);
    if (found == processes_.end())
        return nullptr;
    ProcessRef process = found->second.process.lock();
    if (process && !process->exited())
        return process;
    /* The number is another process's already. */
    exited(pid);
    return nullptr;
}

ProcessRef ProcessTable::insert(pid_t pid, UniqueFd pidfd)
{
    auto real_uid = field_of(proc(pid, "status"), "Uid:");
    if (!real_uid) {
        errno = ESRCH;
        return nullptr;
    }
    auto uid = static_cast<uid_t>(strtoul(real_uid->c_str(), nullptr, 10));
    int fd = pidfd.get();
    std::uint64_t key = loop_.add(fd, EPOLLIN, [this, pid](std::uint32_t) { exited(pid); });
    /* The last one to use the process ends the watch. */
    auto forget = [this, pid, key](Process *process) {
        loop_.remove(key, process->pidfd());
        auto found = processes_.find(pid);
        if (found != processes_.end() && found->second.key == key)
            processes_.erase(found);
        delete process;
    };
    ProcessRef process(new Process(pid, uid, std::move(pidfd)), forget);
    processes_[pid] = {process, key};
    process->comm();
    process->owner();
    return process;
}

void ProcessTable::exited(pid_t pid)
{
    auto found = processes_.find(pid);
    if (found == processes_.end())
        return;
    ProcessRef process = found->second.process.lock();
    std::uint64_t key = found->second.key;
    processes_.erase(found);
    if (!process)
        return;
    loop_.remove(key, process->pidfd());
    process->nice();
    process->gone = true;
    on_exit_(std::move(process));
}

ProcessRef ProcessTable::peer_of(int socket)
{
    ucred peer;
    socklen_t length = sizeof(peer);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
        return nullptr;
    if (peer.pid <= 0) {
        errno = EXDEV; /* not visible in the broker's pid namespace */
        return nullptr;
    }
    UniqueFd pidfd = open_pidfd_of_peer(socket, peer);
    if (!pidfd)
        return nullptr;
    if (has_exited(pidfd.get())) {
        errno = ESRCH;
        return nullptr;
    }
    if (ProcessRef process = known(peer.pid))
        return process;
    return insert(peer.pid, std::move(pidfd));
}

ProcessRef ProcessTable::of_pidfd(UniqueFd pidfd)
{
    auto number = pid_of(pidfd.get());
    if (!number) {
        errno = EBADF;
        return nullptr;
    }
    pid_t pid = *number;
    if (pid <= 0 || has_exited(pidfd.get())) {
        errno = ESRCH;
        return nullptr;
    }
    if (ProcessRef process = known(pid))
        return process;
    return insert(pid, std::move(pidfd));
}

} // namespace ptsched
