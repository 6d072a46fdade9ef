// SPDX-License-Identifier: MIT
#include "libptsched/spmd/output/whole_file.hpp"

#include <ptsched/base/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

namespace ptsched::spmd {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

/* Rights of a new file, as other programs would make it. Other threads may see the mask for an instant. */
mode_t usual_mode()
{
    const mode_t mask = umask(022);
    umask(mask);
    return 0666 & ~mask;
}

} // namespace

WholeFile::WholeFile(std::string path) : path_(std::move(path))
{
    const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    file_ = above_streams(open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (file_)
        return;
    temporary_ = path_ + ".part-XXXXXX";
    file_ = above_streams(mkostemp(temporary_.data(), O_CLOEXEC));
    if (!file_) {
        const int error = errno;
        temporary_.clear();
        fail("make", error);
    }
    fchmod(file_.get(), usual_mode());
}

WholeFile::~WholeFile()
{
    if (!temporary_.empty())
        unlink(temporary_.c_str());
}

void WholeFile::fail(const char *what, int error) const
{
    throw Error(std::string("cannot ") + what + " " + path_ + ": " + std::strerror(error) + " (after " +
                std::to_string(bytes_) + " bytes; what had this name before is as it was)");
}

void WholeFile::write(std::string_view text)
{
    buffer_ += text;
    if (buffer_.size() >= buffer_bytes)
        flush();
}

void WholeFile::flush()
{
    for (std::size_t done = 0; done < buffer_.size();) {
        const ssize_t written = ::write(file_.get(), buffer_.data() + done, buffer_.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            fail("write", written ? errno : ENOSPC);
        done += static_cast<std::size_t>(written);
        bytes_ += static_cast<std::uint64_t>(written);
    }
    buffer_.clear();
}

/* A disk may say only now that it is full. */
void WholeFile::finish()
{
    flush();
    if (fsync(file_.get()) < 0 && errno != EINVAL && errno != EROFS)
        fail("write", errno);
}

void WholeFile::publish()
{
    if (temporary_.empty()) {
        const std::string now = "/proc/self/fd/" + std::to_string(file_.get());
        const std::string name = path_ + ".part-" + std::to_string(getpid()) + "-" + std::to_string(file_.get());
        unlink(name.c_str());
        if (linkat(AT_FDCWD, now.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) < 0)
            fail("name", errno);
        temporary_ = name;
    }
    if (rename(temporary_.c_str(), path_.c_str()) < 0)
        fail("name", errno);
    temporary_.clear();
    file_.reset();
}

} // namespace ptsched::spmd
