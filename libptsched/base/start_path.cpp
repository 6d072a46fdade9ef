// SPDX-License-Identifier: MIT
#include "libptsched/base/start_path.hpp"

#include <cstdlib>
#include <unistd.h>

namespace ptsched {
namespace {

/* Null: no variable of ours holds a relative path, or the folder has no name. */
constinit char *start_folder = nullptr;

bool is_relative(const char *path)
{
    return path && *path && *path != '/';
}

__attribute__((constructor(101))) void remember()
{
    for (const char *name : {"PTSCHED_SOCKET", "PTSCHED_DEVICE_NODE", "PTSCHED_STATS"})
        if (!start_folder && is_relative(secure_getenv(name)))
            start_folder = getcwd(nullptr, 0);
}

} // namespace

std::string start_path(const char *path)
{
    return is_relative(path) && start_folder ? std::string(start_folder) + "/" + path : path;
}

} // namespace ptsched
