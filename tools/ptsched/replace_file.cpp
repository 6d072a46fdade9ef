// SPDX-License-Identifier: MIT
#include "tools/ptsched/replace_file.hpp"

#include "tools/ptsched/scheduler.hpp"
#include <ptsched/base/fd.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptsched {

namespace {

/* A file beside the one that it is to become; it goes unless it has become that. */
class Replacement {
public:
    explicit Replacement(const std::string &path) : path_(path), name_(path + ".XXXXXX")
    {
        fd_ = UniqueFd(mkostemp(name_.data(), O_CLOEXEC));
        if (!fd_)
            fail();
    }
    Replacement(const Replacement &) = delete;
    Replacement &operator=(const Replacement &) = delete;
    ~Replacement()
    {
        if (!done_ && fd_)
            unlink(name_.c_str());
    }

    void write(const std::string &content)
    {
        for (std::size_t done = 0; done < content.size();) {
            ssize_t written = ::write(fd_.get(), content.data() + done, content.size() - done);
            if (written < 0 && errno != EINTR)
                fail();
            done += written < 0 ? 0 : static_cast<std::size_t>(written);
        }
    }

    void take_place()
    {
        /* Others are to read it. */
        if (fchmod(fd_.get(), 0644) || rename(name_.c_str(), path_.c_str()))
            fail();
        done_ = true;
    }

private:
    std::string path_;
    std::string name_;
    UniqueFd fd_;
    bool done_ = false;

    [[noreturn]] void fail() const { throw Error("cannot write " + path_ + ": " + strerror(errno)); }
};

} // namespace

void replace_file(const std::string &path, const std::string &content)
{
    Replacement replacement(path);

    replacement.write(content);
    replacement.take_place();
}

} // namespace ptsched
