/* SPDX-License-Identifier: MIT */
/* The processes that the broker serves: who they are and when they end. */
#ifndef PTSCHEDD_PROCESS_HPP
#define PTSCHEDD_PROCESS_HPP

#include "tools/ptschedd/event_loop.hpp"
#include <ptsched/base/fd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

namespace ptsched {

class Process {
public:
    Process(pid_t pid, uid_t uid, UniqueFd pidfd);

    pid_t pid() const { return pid_; }
    uid_t uid() const { return uid_; }
    int pidfd() const { return pidfd_.get(); }

    /* It has exited, whether or not anybody has noticed yet. */
    bool exited() const;
    /* Of the group leader; the last one known once the process is gone. */
    int nice() const;
    std::string comm() const;
    pid_t parent() const;
    /*
     * In the broker's user namespace: in one of its own every process can have all capabilities. And not by what it has
     * executed since @opener connected: a setuid program does not know what it has inherited, and what is read from
     * the socket now may have been written before.
     */
    bool has_cap_sys_nice(uid_t opener) const;
    /* The user whose it is in every respect; none if it has several. The last one known once it is gone. */
    std::optional<uid_t> owner() const;
    /* Its number in the pid namespace of @viewer; 0: it is not there. */
    pid_t pid_for(const Process &viewer) const;
    /* Nobody's once it is gone. */
    std::optional<uid_t> effective_uid() const;
    /*
     * The name of its cgroup (v2), "/" for the root; nothing once it is gone. With its first call the process takes
     * another descriptor, so that each costs one read: some microseconds, and more while the kernel moves processes
     * between cgroups, for which it holds a lock.
     */
    std::optional<std::string> cgroup() const;
    bool has_debugger() const;
    /* By a signal. */
    bool is_stopped() const;

    /* The owner of the process table has been told of the end. */
    bool gone = false;

private:
    std::optional<std::string> status(const char *field) const;
    /* Its program has rights that who executed it had not, or that cannot be told. */
    bool runs_with_rights_of_a_file() const;

    pid_t pid_;
    uid_t uid_;
    UniqueFd pidfd_;
    mutable int nice_ = 0;
    mutable std::string comm_;
    mutable std::optional<uid_t> owner_;
    mutable UniqueFd cgroup_file_;
    /* From the broker's pid namespace down to its own; `space` is 0 for the first, and where it is not known. */
    struct Number {
        ino_t space;
        pid_t pid;
    };
    std::vector<Number> numbers_;
};

using ProcessRef = std::shared_ptr<Process>;

class ProcessTable {
public:
    /* @on_exit is called once for each process that ended. */
    ProcessTable(EventLoop &loop, std::function<void(ProcessRef)> on_exit) : loop_(loop), on_exit_(std::move(on_exit))
    {
    }

    /* The process at the other end of a connected socket. Null and errno on failure. */
    ProcessRef peer_of(int socket);
    /* The process of a pidfd, which is consumed. Null and errno on failure: ESRCH, EBADF. */
    ProcessRef of_pidfd(UniqueFd pidfd);
    /* A process that is known already. */
    Process *find(pid_t pid) const;

private:
    struct Entry {
        std::weak_ptr<Process> process;
        std::uint64_t key;
    };

    ProcessRef known(pid_t pid);
    ProcessRef insert(pid_t pid, UniqueFd pidfd);
    void exited(pid_t pid);

    EventLoop &loop_;
    std::function<void(ProcessRef)> on_exit_;
    std::unordered_map<pid_t, Entry> processes_;
};

} // namespace ptsched

#endif
