// SPDX-License-Identifier: MIT
/* Jobs of spmd on clusters that are made up. scripts/simulate-spmd makes a report of it. */
#include "tools/ptsched-spmd-sim/suite.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace spmd_sim {
namespace {

std::string number(double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%g", value);
    return text;
}

/* Of one way and value: as all records of the tree, and what is of use beside it. */
nlohmann::json record(const Sweep &sweep, const Way &way, double value, const Outcome &outcome)
{
    return {{"name", "spmd-sim/" + sweep.name + "/" + way.name + "/" + number(value)},
            {"value", outcome.efficiency},
            {"unit", "ratio"},
            {"against", "all nodes that stay well, busy all the time"},
            {"title", way.title},
            {"seconds", outcome.seconds},
            {"master_busy", outcome.master_busy},
            {"messages", outcome.messages},
            {"partitions", outcome.partitions},
            {"copies", outcome.copies}};
}

nlohmann::json run(const std::vector<Sweep> &all)
{
    nlohmann::json records = nlohmann::json::array();
    for (const Sweep &sweep : all) {
        std::fprintf(stderr, "spmd-sim: %s\n", sweep.title.c_str());
        for (const Way &way : sweep.ways)
            for (const double value : sweep.values) {
                Cluster cluster = sweep.cluster;
                sweep.set(cluster, value);
                way.set(cluster);
                records.push_back(record(sweep, way, value, simulate(cluster)));
            }
    }
    return records;
}

nlohmann::json described(const std::vector<Sweep> &all)
{
    nlohmann::json list = nlohmann::json::array();
    for (const Sweep &sweep : all) {
        nlohmann::json ways = nlohmann::json::array();
        for (const Way &way : sweep.ways)
            ways.push_back({{"name", way.name}, {"title", way.title}});
        list.push_back({{"name", sweep.name},
                        {"title", sweep.title},
                        {"axis", sweep.axis},
                        {"logarithmic", sweep.logarithmic},
                        {"nodes", sweep.cluster.nodes},
                        {"values", sweep.values},
                        {"ways", ways}});
    }
    return list;
}

void write(const std::filesystem::path &file, const nlohmann::json &json)
{
    std::ofstream stream(file);
    stream << json.dump(1) << "\n";
    stream.close();
    if (!stream)
        throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(errno));
}

void print(const nlohmann::json &records)
{
    for (const nlohmann::json &one : records)
        std::printf("%-44s %8.4f  %9.4f s  master %5.3f  %llu partitions, %llu messages, %llu copies\n",
                    one["name"].get<std::string>().c_str(), one["value"].get<double>(), one["seconds"].get<double>(),
                    one["master_busy"].get<double>(), one["partitions"].get<unsigned long long>(),
                    one["messages"].get<unsigned long long>(), one["copies"].get<unsigned long long>());
}

} // namespace
} // namespace spmd_sim

int main(int argc, char **argv)
{
    using namespace spmd_sim;
    CLI::App app("Simulates jobs of spmd on clusters that are made up, with the schedulers that it has.");
    unsigned nodes = 16384;
    std::uint64_t seed = 1;
    std::filesystem::path out;
    std::vector<std::string> names;
    app.add_option("--nodes", nodes, "at most")->check(CLI::Range(16u, 65536u))->capture_default_str();
    app.add_option("--seed", seed, "of all that is drawn")->capture_default_str();
    app.add_option("--sweep", names, "only this one; repeatable");
    app.add_option("--out", out, "a folder for spmd-simulate.json and sweeps.json, instead of printing");
    CLI11_PARSE(app, argc, argv);

    try {
        std::vector<Sweep> all = sweeps(nodes, seed);
        for (const std::string &name : names)
            if (std::none_of(all.begin(), all.end(), [&](const Sweep &one) { return one.name == name; }))
                throw std::invalid_argument("there is no sweep '" + name +
                                            "'; there are scale, message, unequal, stragglers, failures and model");
        if (!names.empty())
            std::erase_if(
                all, [&](const Sweep &one) { return std::find(names.begin(), names.end(), one.name) == names.end(); });
        const nlohmann::json records = run(all);
        if (out.empty()) {
            print(records);
        } else {
            std::filesystem::create_directories(out);
            write(out / "sweeps.json", described(all));
            write(out / "spmd-simulate.json", records);
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "spmd-sim: %s\n", error.what());
        return dynamic_cast<const std::invalid_argument *>(&error) ? 2 : 1;
    }
}
