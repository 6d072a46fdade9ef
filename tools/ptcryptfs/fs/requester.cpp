// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/fs/requester.hpp"

#include "tools/ptcryptfs/crypt/engine.hpp"

#include <array>
#include <cerrno>
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptcryptfs {

namespace {

int nice_of(pid_t process)
{
    if (!process)
        return 0;
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(process));
    return errno ? 0 : nice;
}

/* Whether a thread that was made nicer can be made urgent again. */
bool may_change_nice()
{
    static const bool may = [] {
        const int own = getpriority(PRIO_PROCESS, 0);
        return setpriority(PRIO_PROCESS, 0, own - 1) == 0 && setpriority(PRIO_PROCESS, 0, own) == 0;
    }();
    return may;
}

/*
 * Another user would be asked for rights beneath once more, where nothing is known of the user's other groups. The
 * kernel has compared them already.
 */
void ask_for_no_rights()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    if (syscall(SYS_capget, &header, sets.data()) < 0)
        return;
    sets[0].effective |= sets[0].permitted & (1U << CAP_DAC_OVERRIDE | 1U << CAP_FSETID);
    syscall(SYS_capset, &header, sets.data());
}

} // namespace

/* Of a thread alone: that is what Linux makes of a process's number that is 0. */
void act_for(const fuse_ctx &who)
{
    served_process = who.pid;
    thread_local int now = getpriority(PRIO_PROCESS, 0);
    if (!may_change_nice())
        return;
    if (const int nice = nice_of(who.pid); nice != now && setpriority(PRIO_PROCESS, 0, nice) == 0)
        now = nice;
}

/* All are of this thread, and fail without a word. The way back gives the capabilities of root back, too. */
Owner::Owner(const fuse_ctx &who)
{
    setfsgid(who.gid);
    setfsuid(who.uid);
    ask_for_no_rights();
}

Owner::~Owner()
{
    setfsuid(geteuid());
    setfsgid(getegid());
}

} // namespace ptcryptfs
