// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/volume/folder_lock.hpp"

#include <ptsched/base/error.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>

namespace ptcryptfs {

namespace {

constexpr std::chrono::milliseconds patience{2000}, pause_between{20};

} // namespace

ptsched::UniqueFd lock_folder(const std::filesystem::path &folder, Lock how, const std::string &otherwise)
{
    ptsched::UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd)
        throw ptsched::Error("cannot open " + folder.string() + ": " + std::strerror(errno));
    for (auto left = patience;; left -= pause_between) {
        if (flock(fd.get(), (how == Lock::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK)
            throw ptsched::Error("cannot lock " + folder.string() + ": " + std::strerror(errno));
        if (left.count() <= 0)
            throw ptsched::Error(otherwise);
        std::this_thread::sleep_for(pause_between);
    }
}

} // namespace ptcryptfs
