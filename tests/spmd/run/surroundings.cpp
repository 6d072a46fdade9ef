// SPDX-License-Identifier: MIT
#include "tests/spmd/run/cases.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>

namespace test {

spmd::Options of_ranks(unsigned ranks)
{
    spmd::Options options;
    options.ranks = ranks;
    options.threads = 2;
    return options;
}

Folder::Folder() : path_(std::filesystem::temp_directory_path() / "spmd-test-XXXXXX")
{
    if (!mkdtemp(path_.data()))
        throw std::runtime_error("no folder for a test");
}

Folder::~Folder()
{
    std::filesystem::remove_all(path_);
}

std::vector<std::string> Folder::names() const
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(path_))
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::string read_file(const std::string &path)
{
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void write_file(const std::string &path, const std::string &text)
{
    std::ofstream(path) << text;
}

SmallDisk::SmallDisk(unsigned long bytes)
{
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

SmallDisk::~SmallDisk()
{
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

} // namespace test
