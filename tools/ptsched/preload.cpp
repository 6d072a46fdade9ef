// SPDX-License-Identifier: MIT
/* Where libptsched-preload.so is, and what the NVIDIA driver's files say of a device. */
#include "commands.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

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

std::string driver_uuid(const std::string &pci)
{
    std::string name = pci;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::ifstream file("/proc/driver/nvidia/gpus/" + name + "/information");
    std::string line;

    while (std::getline(file, line)) {
        size_t begin = line.find("GPU-");
        /* The driver writes question marks until the device is first used. */
        if (line.starts_with("GPU UUID:") && begin != std::string::npos && line.find('?') == std::string::npos)
            return line.substr(begin);
    }
    return {};
}

} // namespace ptsched
