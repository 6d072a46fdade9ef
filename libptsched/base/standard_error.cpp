// SPDX-License-Identifier: MIT
#include "libptsched/base/standard_error.hpp"

#include "libptsched/base/file_identity.hpp"
#include "libptsched/base/no_cancellation.hpp"

#include <cerrno>
#include <unistd.h>

namespace ptsched {
namespace {

constinit FileIdentity at_start;

/* Before those of other files, and before the program's own code. */
__attribute__((constructor(101))) void remember()
{
    at_start = FileIdentity::of(STDERR_FILENO);
}

} // namespace

void write_to_user(const char *line, std::size_t length)
{
    NoCancellation here;
    const int saved = errno;
    if (FileIdentity::of(STDERR_FILENO) == at_start)
        while (write(STDERR_FILENO, line, length) < 0 && errno == EINTR)
            continue;
    errno = saved;
}

} // namespace ptsched
