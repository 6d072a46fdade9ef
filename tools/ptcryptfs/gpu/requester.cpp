// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/gpu/requester.hpp"

#include "libptsched/base/pidfd.hpp"

#include <cerrno>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptcryptfs {

namespace {

using ptsched::UniqueFd;

UniqueFd open_pidfd(pid_t process)
{
    return ptsched::above_streams(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

/* Not positive if the thread is gone. */
pid_t process_of(pid_t thread)
{
    std::ifstream status("/proc/" + std::to_string(thread) + "/status");
    for (std::string word; status >> word;)
        if (pid_t process = 0; word == "Tgid:" && status >> process)
            return process;
    return 0;
}

RequesterPtr find(pid_t thread)
{
    /* There is no descriptor of a thread that is not its process's first one. */
    pid_t process = thread;
    UniqueFd pidfd = open_pidfd(process);
    if (!pidfd && (process = process_of(thread)) > 0)
        pidfd = open_pidfd(process);
    if (!pidfd)
        return nullptr;
    const auto found = std::make_shared<const Requester>(process, std::move(pidfd));
    return found->has(thread) ? found : nullptr;
}

} // namespace

bool Requester::is_gone() const
{
    return ptsched::has_exited(pidfd_.get());
}

/* Who may not send a signal there is told so, and not that there is no such thread. */
bool Requester::has(pid_t thread) const
{
    const bool is_there = syscall(SYS_tgkill, process_, thread, 0) == 0 || errno != ESRCH;
    return is_there && !is_gone();
}

RequesterPtr requester_of(pid_t thread)
{
    /* Mostly the same as that of the request before. */
    thread_local RequesterPtr last;
    if (thread <= 0)
        return nullptr;
    if (!last || !last->has(thread))
        last = find(thread);
    return last;
}

} // namespace ptcryptfs
