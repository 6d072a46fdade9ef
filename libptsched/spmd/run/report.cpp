// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/chief.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace ptsched::spmd {
namespace {

std::string formatted(const char *format, auto... values)
{
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

double mib(double bytes)
{
    return bytes / (1 << 20);
}

} // namespace

static void to_json(nlohmann::json &json, const Report::Device &device)
{
    json = {{"name", device.name},
            {"bytes", device.bytes},
            {"blocks", device.blocks},
            {"busy_s", device.busy},
            {"bytes_per_s", device.rate()}};
}

static void from_json(const nlohmann::json &json, Report::Device &device)
{
    json.at("name").get_to(device.name);
    json.at("bytes").get_to(device.bytes);
    json.at("blocks").get_to(device.blocks);
    json.at("busy_s").get_to(device.busy);
}

static void to_json(nlohmann::json &json, const Report::Rank &rank)
{
    json = {{"rank", rank.rank},
            {"devices", rank.devices},
            {"partitions", rank.partitions},
            {"lost", rank.lost},
            {"map_s", rank.map},
            {"shuffle_s", rank.shuffle},
            {"reduce_s", rank.reduce},
            {"pairs_mapped", rank.pairs_mapped},
            {"results", rank.results},
            {"sent_bytes", rank.sent},
            {"spilled_bytes", rank.spilled}};
}

static void from_json(const nlohmann::json &json, Report::Rank &rank)
{
    json.at("rank").get_to(rank.rank);
    json.at("devices").get_to(rank.devices);
    json.at("partitions").get_to(rank.partitions);
    json.at("lost").get_to(rank.lost);
    json.at("map_s").get_to(rank.map);
    json.at("shuffle_s").get_to(rank.shuffle);
    json.at("reduce_s").get_to(rank.reduce);
    json.at("pairs_mapped").get_to(rank.pairs_mapped);
    json.at("results").get_to(rank.results);
    json.at("sent_bytes").get_to(rank.sent);
    json.at("spilled_bytes").get_to(rank.spilled);
}

std::string pack_report(const Report::Rank &rank)
{
    return nlohmann::json(rank).dump();
}

Report::Rank unpack_report(const std::string &text)
{
    return nlohmann::json::parse(text).get<Report::Rank>();
}

std::string Report::json() const
{
    nlohmann::json json = {{"job", job},     {"seconds", seconds}, {"input_bytes", input_bytes},
                           {"ranks", ranks}, {"failed", failed},   {"p", p}};
    if (model_p)
        json["model_p"] = *model_p;
    return json.dump();
}

std::string Report::text() const
{
    std::string text = formatted("%s: %.3f s, %.1f MiB of input, %.1f MiB/s, the CPUs' part %.3f", job.c_str(), seconds,
                                 mib(static_cast<double>(input_bytes)),
                                 seconds > 0 ? mib(static_cast<double>(input_bytes)) / seconds : 0.0, p);
    if (model_p)
        text += formatted(" (model: %.3f)", *model_p);
    text += '\n';
    for (const Rank &rank : ranks) {
        text += formatted("  rank %u: map until %.3f s, shuffle %.3f s, reduce %.3f s; %llu results, %.1f MiB sent",
                          rank.rank, rank.map, rank.shuffle, rank.reduce, static_cast<unsigned long long>(rank.results),
                          mib(static_cast<double>(rank.sent)));
        if (rank.spilled > 0)
            text += formatted(", %.1f MiB spilled", mib(static_cast<double>(rank.spilled)));
        text += '\n';
        for (const Device &device : rank.devices)
            text += formatted("    %s: %.1f MiB in %llu blocks, %.1f MiB/s\n", device.name.c_str(),
                              mib(static_cast<double>(device.bytes)), static_cast<unsigned long long>(device.blocks),
                              mib(device.rate()));
    }
    for (const unsigned rank : failed)
        text += "  rank " + std::to_string(rank) + " has failed\n";
    return text;
}

std::string Progress::text() const
{
    std::string text = formatted("%s: %.0f %% of %.1f MiB, %.1f MiB/s", stage,
                                 all > 0 ? 100.0 * static_cast<double>(done) / static_cast<double>(all) : 100.0,
                                 mib(static_cast<double>(all)), mib(rate));
    if (left)
        text += formatted(", %.0f s left", *left);
    return text;
}

} // namespace ptsched::spmd
