/* SPDX-License-Identifier: MIT */
/* Standard input, output and error of a program that may be started without them, or with an output that is full. */
#ifndef PTSCHED_TOOLS_STANDARD_STREAMS_HPP
#define PTSCHED_TOOLS_STANDARD_STREAMS_HPP

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>

namespace ptsched {

/*
 * To be called first: a number below 3 that is free would be taken by the next file or socket that is opened, which
 * would then get what is printed. What stands there instead is open the wrong way round, so that its use is an error as
 * before, and is closed for programs that are executed.
 */
inline void occupy_standard_streams()
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        /* The lowest number that is free. */
        if (open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
            std::abort();
    }
}

/*
 * To be called last: the exit status of @program, which would be @status. What could not be written is an error, unless
 * there was another.
 */
inline int close_standard_output(const char *program, int status)
{
    errno = 0;
    const bool written = std::cout.flush().good();
    const bool failed_before = std::ferror(stdout);
    const bool closed = std::fclose(stdout) == 0;
    const int error = errno;
    /* Who has printed nothing need not have a standard output. */
    if ((written && !failed_before && closed) || (written && !failed_before && error == EBADF) || status)
        return status;
    std::cerr << program << ": cannot write to standard output" << (error ? ": " : "")
              << (error ? std::strerror(error) : "") << "\n";
    return 1;
}

} // namespace ptsched

#endif
