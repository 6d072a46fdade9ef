// SPDX-License-Identifier: MIT
/* ptsched stat: devices with settings and counters, and who uses them. */
#include "tools/ptsched/accounts.hpp"
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/format.hpp"
#include "tools/ptsched/json.hpp"
#include "tools/ptsched/openmetrics.hpp"
#include "tools/ptsched/replace_file.hpp"

#include <algorithm>
#include <iostream>

namespace ptsched {

namespace {

/* What the scheduler has told, as far as it is shown. */
struct Report {
    std::vector<Device> devices;
    std::vector<Entity> entities;
    std::optional<std::vector<Account>> accounts; /* none: not known to the scheduler */
    CgroupPaths paths;
};

Json counters_json(const Counters &counters)
{
    return {
        {"turns", counters.turns},       {"callbacks", counters.callbacks},
        {"preempts", counters.preempts}, {"escalations", counters.escalations},
        {"forced", counters.forced},     {"overrun_ns", counters.overrun_ns},
        {"held_ns", counters.held_ns},   {"occupancy_ns", counters.occupancy_ns},
        {"given_ns", counters.given_ns}, {"gpu_ns", counters.gpu_ns},
    };
}

/* Major and minor number: what it is called is each program's affair. */
std::string node_text(std::uint64_t node)
{
    return std::to_string(node >> 32) + ":" + std::to_string(static_cast<std::uint32_t>(node));
}

template <typename Value> Json json_or_null(const std::optional<Value> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json path_json(std::uint64_t cgroup, const CgroupPaths &paths)
{
    const std::string path = paths.of(cgroup);
    return path.empty() ? Json(nullptr) : Json(path);
}

Json account_json(const Account &account, const CgroupPaths &paths)
{
    Json json = account.uid ? Json{{"user", user_name(*account.uid)}, {"uid", *account.uid}}
                            : Json{{"cgroup", path_json(account.cgroup, paths)},
                                   {"id", account.cgroup},
                                   {"parent", json_or_null(account.parent)}};
    json["share"] = account.share;
    json["processes"] = account.processes;
    json["gpu_ns"] = account.gpu_ns;
    return json;
}

Json device_json(const Device &device, const Report &report)
{
    Json json = {
        {"id", device.id},
        {"pci", device.pci},
        {"uuid", device.uuid.empty() ? Json(nullptr) : Json(device.uuid)},
        {"settings",
         {
             {"policy", policy_name(device.policy)},
             {"grouping", grouping_name(device.grouping)},
             {"idle_sharing", device.idle_sharing},
             {"many", device.many},
             {"slice_ns", device.slice_ns},
             {"grace_ns", device.grace_ns},
             {"drain_ns", device.drain_ns},
             {"inflight_ns", device.inflight_ns},
             {"alpha", device.alpha / 1000.0},
             {"node", device.node ? Json(node_text(device.node)) : Json(nullptr)},
         }},
        {"slice_effective_ns", device.slice_effective_ns},
        {"handover_ns", device.handover_ns},
        {"entities", device.entities},
        {"waiters", device.waiters},
        {"counters", counters_json(device.counters)},
    };

    if (!report.accounts)
        return json;
    json["accounts"] = Json::array();
    for (const Account &account : *report.accounts)
        if (account.device_id == device.id)
            json["accounts"].push_back(account_json(account, report.paths));
    return json;
}

Json entity_json(const Entity &entity, const CgroupPaths &paths)
{
    Json counters = counters_json(entity.counters);

    counters["wait_ns"] = entity.wait_ns;
    counters["submissions"] = entity.submissions;
    return {
        {"device_id", entity.device_id},
        {"pid", entity.pid},
        {"uid", entity.uid},
        {"user", user_name(entity.uid)},
        {"comm", entity.comm},
        {"nice", entity.nice},
        {"weight", entity.weight},
        {"weight_set", entity.weight_set},
        {"state", state_name(entity.state)},
        {"active", entity.active},
        {"budget_ns", entity.budget_ns},
        {"clients", entity.clients},
        {"mechanism", mechanism_name(entity.mechanism)},
        {"group", entity.group.empty() ? Json(nullptr) : Json(entity.group)},
        {"share", entity.share},
        {"user_gpu_ns", json_or_null(entity.user_gpu_ns)},
        {"cgroup", entity.cgroup ? path_json(*entity.cgroup, paths) : Json(nullptr)},
        {"counters", std::move(counters)},
    };
}

void print_json(Scheduler &scheduler, const Report &report)
{
    ptsched_query version = scheduler.query();
    Json output = {
        {"scheduler",
         {
             {"kind", scheduler.kind()},
             {"path", scheduler.path()},
             {"version", std::to_string(version.version_major) + "." + std::to_string(version.version_minor)},
         }},
        {"devices", Json::array()},
        {"entities", Json::array()},
    };

    for (const Device &device : report.devices)
        output["devices"].push_back(device_json(device, report));
    for (const Entity &entity : report.entities)
        output["entities"].push_back(entity_json(entity, report.paths));
    std::cout << dump_json(output, 2) << "\n";
}

const char *on_off(bool value)
{
    return value ? "on" : "off";
}

std::string rounded(std::uint64_t ns)
{
    return format_rounded(static_cast<std::int64_t>(ns));
}

void print_device(const Device &device)
{
    const Counters &counters = device.counters;

    std::cout << "device " << device.id << ": " << device.pci << (device.uuid.empty() ? "" : "  ") << device.uuid
              << "\n  settings  policy=" << policy_name(device.policy) << " grouping=" << grouping_name(device.grouping)
              << " idle-sharing=" << on_off(device.idle_sharing) << " many=" << on_off(device.many)
              << " slice=" << format_duration(device.slice_ns) << " grace=" << format_duration(device.grace_ns)
              << " drain=" << format_duration(device.drain_ns) << " inflight=" << format_duration(device.inflight_ns)
              << " alpha=" << format_thousandths(device.alpha)
              << " node=" << (device.node ? node_text(device.node) : "none") << "\n  now       slice in force "
              << rounded(device.slice_effective_ns) << ", hand-over " << rounded(device.handover_ns) << ", "
              << device.entities << " attached, " << device.waiters << " waiting"
              << "\n  so far    turns " << counters.turns << ", call-backs " << counters.callbacks << " ("
              << counters.preempts << " to leave at once, " << counters.escalations << " of them as it did not drain, "
              << counters.forced << " shared by force), held " << rounded(counters.held_ns) << ", contended "
              << rounded(counters.occupancy_ns) << ", given away " << rounded(counters.given_ns) << ", GPU "
              << rounded(counters.gpu_ns) << ", overrun " << rounded(counters.overrun_ns) << "\n";
}

void print_accounts(const Report &report)
{
    if (!report.accounts)
        std::cout << no_accounts << "\n";
    else
        for (const std::string &line : accounts_table(*report.accounts, report.paths))
            std::cout << line << "\n";
}

void print_entities(const std::vector<Entity> &entities)
{
    if (entities.empty()) {
        std::cout << "no process is attached\n";
        return;
    }
    Table table({">DEV", ">PID", "USER", ">NI", ">WEIGHT", "STATE", ">GPU", ">HELD", ">WAIT", ">BUDGET", ">TURNS",
                 ">CALLBACKS", ">FORCED", "MECHANISM", "GROUP", "COMMAND"});

    for (const Entity &entity : entities)
        table.add({std::to_string(entity.device_id), std::to_string(entity.pid), user_name(entity.uid),
                   std::to_string(entity.nice), std::to_string(entity.weight) + (entity.weight_set ? "*" : ""),
                   state_name(entity.state), rounded(entity.counters.gpu_ns), rounded(entity.counters.held_ns),
                   rounded(entity.wait_ns), format_rounded(entity.budget_ns), std::to_string(entity.counters.turns),
                   std::to_string(entity.counters.callbacks), std::to_string(entity.counters.forced),
                   mechanism_name(entity.mechanism), entity.group.empty() ? "-" : printable(entity.group),
                   printable(entity.comm)});
    for (const std::string &line : table.lines())
        std::cout << line << "\n";
    if (std::any_of(entities.begin(), entities.end(), [](const Entity &entity) { return entity.weight_set; }))
        std::cout << "* set by the administrator, not from nice\n";
}

Report ask(Scheduler &scheduler, const StatOptions &options)
{
    Report report{.devices = scheduler.devices(), .entities = {}, .accounts = {}, .paths = {}};
    std::optional<std::uint32_t> only;
    std::set<std::uint64_t> cgroups;

    if (!options.device.empty()) {
        report.devices = {find_device(report.devices, options.device)};
        only = report.devices[0].id;
    }
    report.entities = scheduler.entities(only);
    if (!options.accounts && !options.json && !options.openmetrics)
        return report;
    report.accounts = scheduler.accounts(only);
    for (const Entity &entity : report.entities)
        if (entity.cgroup && options.json)
            cgroups.insert(*entity.cgroup);
    report.paths.find(std::move(cgroups));
    if (report.accounts)
        sort_accounts(*report.accounts, report.paths);
    return report;
}

} // namespace

int stat(const StatOptions &options)
{
    if (!options.output.empty() && !options.openmetrics)
        throw Error("stat writes a file (-o) with --openmetrics only", 2);
    auto scheduler = open_scheduler(options.choice);
    const Report report = ask(*scheduler, options);

    if (options.openmetrics) {
        const std::string text = openmetrics(report.devices, report.entities, report.accounts, report.paths);
        if (options.output.empty())
            std::cout << text;
        else
            replace_file(options.output, text);
        return 0;
    }
    if (options.json) {
        print_json(*scheduler, report);
        return 0;
    }
    std::cout << "scheduler: " << scheduler->kind() << " at " << scheduler->path() << "\n";
    if (report.devices.empty())
        std::cout << "no devices\n";
    for (const Device &device : report.devices)
        print_device(device);
    std::cout << "\n";
    if (options.accounts)
        print_accounts(report);
    else
        print_entities(report.entities);
    return 0;
}

} // namespace ptsched
