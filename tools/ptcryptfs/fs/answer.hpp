/* SPDX-License-Identifier: MIT */
/* How a request ends, whatever has happened. */
#ifndef PTCRYPTFS_FS_ANSWER_HPP
#define PTCRYPTFS_FS_ANSWER_HPP

#include "tools/ptcryptfs/fs/inodes.hpp"
#include "tools/ptcryptfs/fs/requester.hpp"
#include <ptsched/base/error.hpp>

#include <cerrno>
#include <new>
#include <sys/syslog.h>
#include <system_error>
#include <unistd.h>

namespace ptcryptfs {

/* @result of a system call. Throws what errno says. */
template <typename Number> Number need(Number result)
{
    if (result < 0)
        throw std::system_error(errno, std::generic_category());
    return result;
}

inline void sync_beneath(int fd, bool data_only)
{
    need(data_only ? fdatasync(fd) : fsync(fd));
}

/* Does @what, which answers the request or throws, as urgently as the process is that has asked. */
template <typename What> void answer(fuse_req_t request, What what)
{
    int error = 0;
    try {
        act_for(*fuse_req_ctx(request));
        what();
        return;
    } catch (const std::system_error &failure) {
        error = failure.code().value();
    } catch (const std::bad_alloc &) {
        error = ENOMEM;
    } catch (const std::exception &failure) {
        syslog(LOG_ERR, "%s", failure.what());
        error = EIO;
    }
    fuse_reply_err(request, error);
}

/* The same for what has no answer but that it is done. */
template <typename What> void carry_out(fuse_req_t request, What what)
{
    answer(request, [&] {
        what();
        fuse_reply_err(request, 0);
    });
}

} // namespace ptcryptfs

#endif /* PTCRYPTFS_FS_ANSWER_HPP */
