// SPDX-License-Identifier: MIT
/* Where libptsched-preload.so is. */
#include "tools/ptsched/commands.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ptsched {

namespace {

namespace fs = std::filesystem;

constexpr const char *library = "libptsched-preload.so";

/* Beside this program (build tree or prefix), then where packages put libraries. */
std::vector<fs::path> library_folders()
{
    std::vector<fs::path> folders;
    std::error_code error;
    fs::path self = fs::read_symlink("/proc/self/exe", error);

    if (!error) {
        fs::path lib = (self.parent_path() / "../lib").lexically_normal();
        folders.push_back(lib);
        folders.push_back(lib / PTSCHED_TRIPLET);
    }
    for (const char *folder : {PTSCHED_LIBDIR, "/usr/local/lib", "/usr/lib/" PTSCHED_TRIPLET, "/usr/lib"})
        if (std::find(folders.begin(), folders.end(), folder) == folders.end())
            folders.emplace_back(folder);
    return folders;
}

} // namespace

Preload find_preload(const std::string &given)
{
    const char *from_environment = std::getenv("PTSCHED_PRELOAD");
    std::string named = !given.empty() ? given : from_environment ? from_environment : "";
    std::error_code error;
    Preload result;

    if (!named.empty()) {
        result.searched.push_back(named);
        /* The program may change its folder before it starts another. */
        if (fs::is_regular_file(named, error))
            result.path = fs::absolute(named, error);
        return result;
    }
    for (const fs::path &folder : library_folders()) {
        fs::path candidate = folder / library;
        result.searched.push_back(candidate);
        if (fs::is_regular_file(candidate, error)) {
            result.path = candidate;
            break;
        }
    }
    return result;
}

} // namespace ptsched
