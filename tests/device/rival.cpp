// SPDX-License-Identifier: MIT
#include "tests/device/rival.hpp"

#include <ptsched/ptsched.hpp>

#include <nlohmann/json.hpp>

int test::rival()
{
    auto say = [](char what) { return write(STDOUT_FILENO, &what, 1) == 1; };
    ptsched::Client client("ffff:01:00.0", PTSCHED_MECHANISM_GATE, PTSCHED_BACKEND_BROKER);
    char what;
    if (!say('r'))
        return 1;
    while (read(STDIN_FILENO, &what, 1) == 1) {
        ptsched::Turn turn(client);
        if (!say('h') || read(STDIN_FILENO, &what, 1) != 1)
            return 1;
    }
    return 0;
}

nlohmann::json test::Broker::entity() const
{
    const std::string command = folder() + "/../bin/ptsched stat --json --broker " + socket();
    const std::unique_ptr<FILE, int (*)(FILE *)> stat(popen(command.c_str(), "r"), pclose);
    if (!stat)
        throw std::runtime_error("no pipe for ptsched stat");
    const auto all = nlohmann::json::parse(stat.get());
    for (const auto &entity : all.at("entities"))
        if (entity.at("pid") == getpid() && entity.at("device_id") == 0)
            return entity;
    throw std::runtime_error("ptsched stat does not know this process");
}

nlohmann::json test::Broker::counters() const
{
    return entity().at("counters");
}

std::string test::Broker::state() const
{
    return entity().at("state").get<std::string>();
}

std::uint64_t test::Broker::counter(const char *name) const
{
    return counters().at(name).get<std::uint64_t>();
}
