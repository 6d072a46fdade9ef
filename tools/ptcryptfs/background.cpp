// SPDX-License-Identifier: MIT
#include "tools/ptcryptfs/background.hpp"

#include <ptsched/base/error.hpp>
#include <ptsched/base/fd.hpp>

#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptcryptfs {

namespace {

using ptsched::Error;
using ptsched::UniqueFd;

struct Pipe {
    Pipe()
    {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
            throw Error(std::string("there is no pipe for another process: ") + std::strerror(errno));
        from = UniqueFd(ends[0]);
        to = UniqueFd(ends[1]);
    }
    UniqueFd from, to;
};

void leave_streams()
{
    const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(nothing.get(), fd);
}

/* Locked memory is this process's: its parent's pages are not. */
Secret received(const UniqueFd &from, std::size_t bytes)
{
    prepare_secrets();
    Secret passphrase(bytes);
    std::size_t used = 0;
    for (ssize_t result = 1; used < bytes && result > 0; used += static_cast<std::size_t>(std::max<ssize_t>(result, 0)))
        result = read(from.get(), passphrase.bytes().data() + used, bytes - used);
    if (used < bytes)
        throw Error("the passphrase has not come");
    return passphrase;
}

} // namespace

int run_in_background(Secret passphrase, const std::function<int(Secret passphrase, std::function<void()> begun)> &work)
{
    Pipe handed, begun;
    const std::size_t bytes = passphrase.bytes().size();
    const pid_t child = fork();
    if (child < 0)
        throw Error(std::string("there is no other process: ") + std::strerror(errno));
    if (child) {
        handed.from.reset();
        begun.to.reset();
        const bool is_handed = write(handed.to.get(), passphrase.bytes().data(), bytes) == static_cast<ssize_t>(bytes);
        handed.to.reset();
        char said = 0;
        if (is_handed && read(begun.from.get(), &said, 1) == 1)
            return 0;
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
    }
    handed.to.reset();
    begun.from.reset();
    setsid();
    return work(received(handed.from, bytes), [&begun] {
        leave_streams();
        static_cast<void>(!write(begun.to.get(), "b", 1));
        begun.to.reset();
    });
}

} // namespace ptcryptfs
