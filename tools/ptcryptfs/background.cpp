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

void leave_terminal()
{
    setsid();
    const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(nothing.get(), fd);
}

} // namespace

int run_in_background(const std::function<int(const std::function<void()> &begun)> &work)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        throw Error(std::string("there is no pipe for another process: ") + std::strerror(errno));
    UniqueFd from(ends[0]), to(ends[1]);
    const pid_t child = fork();
    if (child < 0)
        throw Error(std::string("there is no other process: ") + std::strerror(errno));
    if (!child) {
        from.reset();
        return work([&to] {
            leave_terminal();
            static_cast<void>(!write(to.get(), "b", 1));
            to.reset();
        });
    }
    to.reset();
    char said = 0;
    if (read(from.get(), &said, 1) == 1)
        return 0;
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
}

} // namespace ptcryptfs
