// SPDX-License-Identifier: MIT
#include "samples/pool/citizen/scheduler.hpp"

#include <ptsched/base/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ptsched::pool::bench {

namespace {

std::string self()
{
    return std::filesystem::read_symlink("/proc/self/exe");
}

std::string given_or_built(const char *variable, const char *built)
{
    const char *given = std::getenv(variable);
    const std::filesystem::path path =
        given && *given ? std::filesystem::absolute(given) : std::filesystem::path(self()).parent_path() / built;
    if (!std::filesystem::exists(path))
        throw Error(path.string() + " is not there: name another one by " + variable);
    return path.lexically_normal();
}

std::string new_folder()
{
    std::string name = std::filesystem::temp_directory_path() / "pool-citizen-XXXXXX";
    if (!mkdtemp(name.data()))
        throw Error(std::string("no folder for a socket: ") + std::strerror(errno));
    return name;
}

} // namespace

Scheduler::Scheduler(const std::vector<std::string> &devices) : folder_(new_folder())
{
    const std::string socket = in_folder("socket");
    try {
        std::vector<std::string> words{given_or_built("PTSCHEDD", "../bin/ptschedd"), "--socket", socket};
        for (const std::string &device : devices)
            words.insert(words.end(), {"--device", device});
        broker_ = std::make_unique<Child>(std::move(words), Child::How{.answers_on_stderr = true});
        while (broker_->hear().find("listening") == std::string::npos)
            ;
    } catch (...) {
        std::filesystem::remove_all(folder_);
        throw;
    }
    /* Also where the module is loaded. */
    setenv("PTSCHED_DEVICE_NODE", in_folder("no-module").c_str(), 1);
    setenv("PTSCHED_SOCKET", socket.c_str(), 1);
}

Scheduler::~Scheduler()
{
    broker_->end(true);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::unique_ptr<Child> Scheduler::start(std::vector<std::string> role, std::optional<int> nice,
                                        const std::string &level)
{
    Child::How how{.nice = nice};
    if (!level.empty()) {
        const char *others = std::getenv("LD_PRELOAD");
        how.environment["LD_PRELOAD"] = given_or_built("PTSCHED_PRELOAD", "../lib/libptsched-preload.so") +
                                        (others && *others ? std::string(":") + others : "");
        how.environment["PTSCHED_LEVEL"] = level;
        how.environment["PTSCHED_STATS"] = in_folder("statistics");
    }
    role.insert(role.begin(), self());
    return std::make_unique<Child>(std::move(role), how);
}

Statistics Scheduler::statistics() const
{
    std::ifstream file(in_folder("statistics"));
    std::string last;
    for (std::string line; std::getline(file, line);)
        last = line;
    const auto statistics = nlohmann::json::parse(last, nullptr, false);
    if (!statistics.is_object())
        return {};
    return {statistics.value("submissions", 0U), statistics.value("preemptions", 0U)};
}

} // namespace ptsched::pool::bench
