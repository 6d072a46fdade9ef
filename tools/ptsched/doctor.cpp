// SPDX-License-Identifier: MIT
/* ptsched doctor: what is missing, and what to do about it. */
#include "tools/ptsched/checks.hpp"
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/elf.hpp"
#include "tools/ptsched/format.hpp"
#include "tools/ptsched/json.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>

namespace ptsched {

namespace {

const char *level_name(Level level)
{
    switch (level) {
    case Level::Ok:
        return "ok";
    case Level::Note:
        return "note";
    case Level::Problem:
        return "problem";
    }
    return "problem";
}

/* Answers and has a version that this tool understands; nothing otherwise. */
void check_version(Checks &checks, Scheduler &scheduler)
{
    std::string name = scheduler.kind() + " version";

    try {
        ptsched_query query = scheduler.query();
        std::string version = std::to_string(query.version_major) + "." + std::to_string(query.version_minor);
        std::string own = std::to_string(PTSCHED_VERSION_MAJOR) + "." + std::to_string(PTSCHED_VERSION_MINOR);
        if (query.version_major != PTSCHED_VERSION_MAJOR)
            checks.push_back({name, Level::Problem, "contract " + version + ", this tool and the libraries have " + own,
                              "install scheduler, libraries and tool of one release"});
        else
            checks.push_back(
                {name, Level::Ok,
                 "contract " + version + " (this tool: " + own + "), " + std::to_string(query.nr_devices) + " devices",
                 ""});
    } catch (const Error &error) {
        checks.push_back({name, Level::Problem, error.what(), "are scheduler and tool of one release?"});
    }
}

std::unique_ptr<Scheduler> try_module(Checks &checks)
{
    try {
        auto module = open_module();
        checks.push_back({"module netlink", Level::Ok, "generic netlink family " PTSCHED_GENL_NAME " answers", ""});
        check_version(checks, *module);
        return module;
    } catch (const Error &error) {
        checks.push_back({"module netlink", Level::Note, error.what(), ""});
        return nullptr;
    }
}

/* Null: there is none, or none that serves. Of one that does not answer nothing else is asked. */
std::unique_ptr<Scheduler> try_broker(Checks &checks, const std::string &path)
{
    try {
        auto broker = open_broker(path);
        broker->query();
        checks.push_back({"broker", Level::Ok, "answers at " + path, ""});
        check_version(checks, *broker);
        return broker;
    } catch (const Unresponsive &error) {
        checks.push_back({"broker", Level::Problem, error.what(), error.advice()});
        return nullptr;
    } catch (const Error &error) {
        checks.push_back({"broker", Level::Note, error.what(), ""});
        return nullptr;
    }
}

/* The one that programs get: the module if it is there. */
std::unique_ptr<Scheduler> check_schedulers(Checks &checks, const Choice &choice)
{
    std::unique_ptr<Scheduler> module, broker;

    check_module(checks);
    if (choice.broker.empty())
        module = try_module(checks);
    if (!choice.module)
        broker = try_broker(checks, choice.broker.empty() ? broker_socket() : choice.broker);
    if (module && broker)
        checks.push_back({"scheduler", Level::Note, "module and broker both run; programs take the module",
                          "stop the broker (systemctl disable --now ptschedd)"});
    else if (module || broker)
        checks.push_back(
            {"scheduler", Level::Ok, std::string("programs take the ") + (module ? "module" : "broker"), ""});
    else
        checks.push_back({"scheduler", Level::Problem, "neither module nor broker serves: programs run unscheduled",
                          "load the module (modprobe ptsched) or start the broker (systemctl start ptschedd)"});
    return module ? std::move(module) : std::move(broker);
}

void check_devices(Checks &checks, Scheduler &scheduler, bool &any)
{
    try {
        std::string names;
        for (const Device &device : scheduler.devices())
            names += (names.empty() ? "" : ", ") + std::to_string(device.id) + " (" + device.pci + ")";
        any = !names.empty();
        if (any)
            checks.push_back({"scheduled devices", Level::Ok, names, ""});
        else
            checks.push_back({"scheduled devices", Level::Problem, "the scheduler knows no device",
                              "is a GPU visible to it (lspci -d ::0300, ::0302)?"});
    } catch (const Error &error) {
        checks.push_back({"scheduled devices", Level::Problem, error.what(), "are scheduler and tool of one release?"});
    }
}

/* How decisions are enforced on each client so far: beyond the gate it looks for better once others are there. */
void check_mechanisms(Checks &checks, Scheduler &scheduler)
{
    try {
        std::vector<Entity> entities = scheduler.entities();
        for (const Entity &entity : entities) {
            std::string name = mechanism_name(entity.mechanism);
            checks.push_back(
                {"process " + std::to_string(entity.pid), Level::Ok,
                 printable(entity.comm) + " on device " + std::to_string(entity.device_id) + ": mechanism " + name,
                 ""});
        }
        if (entities.empty())
            checks.push_back({"processes", Level::Ok, "none is attached", ""});
    } catch (const Error &error) {
        checks.push_back({"processes", Level::Problem, error.what(), "are scheduler and tool of one release?"});
    }
}

/* The routes by which programs find the driver; an interposer must be on all of them. */
void check_preload(Checks &checks, const Preload &preload)
{
    if (preload.path.empty()) {
        std::string places;
        for (const std::string &place : preload.searched)
            places += (places.empty() ? "" : ", ") + place;
        checks.push_back({"interposer", Level::Problem, "libptsched-preload.so is not there; looked for " + places,
                          "make install, or name it with PTSCHED_PRELOAD"});
        return;
    }

    std::set<std::string> symbols = exported_symbols(preload.path);
    std::string missing;
    for (const char *name : {"dlsym", "dlvsym", "cuGetProcAddress", "cuGetProcAddress_v2", "cuLaunchKernel",
                             "cuLaunchKernelEx", "cuGraphLaunch", "cuMemcpyAsync"})
        if (!symbols.contains(name))
            missing += std::string(missing.empty() ? "" : ", ") + name;
    if (!missing.empty()) {
        checks.push_back({"interposer", Level::Problem, preload.path + " does not export " + missing,
                          "install the library of this release, " PTSCHED_VERSION});
        return;
    }
    auto entries =
        std::count_if(symbols.begin(), symbols.end(), [](const std::string &name) { return name.starts_with("cu"); });
    checks.push_back(
        {"interposer", Level::Ok, preload.path + ", " + std::to_string(entries) + " driver entry points", ""});
}

void print_text(const Checks &checks)
{
    std::size_t width = 0;

    for (const Check &check : checks)
        width = std::max(width, check.name.size());
    for (const Check &check : checks) {
        std::string mark = check.level == Level::Ok ? "ok     " : check.level == Level::Note ? "note   " : "PROBLEM";
        std::cout << mark << "  " << check.name << std::string(width - check.name.size(), ' ') << "  " << check.finding
                  << "\n";
        if (!check.advice.empty())
            std::cout << std::string(width + 11, ' ') << "-> " << check.advice << "\n";
    }
}

void print_json(const Checks &checks, std::size_t problems)
{
    Json list = Json::array();

    for (const Check &check : checks)
        list.push_back({{"name", check.name},
                        {"level", level_name(check.level)},
                        {"finding", check.finding},
                        {"advice", check.advice.empty() ? Json(nullptr) : Json(check.advice)}});
    Json output = {{"version", PTSCHED_VERSION}, {"problems", problems}, {"checks", std::move(list)}};
    std::cout << dump_json(output, 2) << "\n";
}

} // namespace

int doctor(const DoctorOptions &options)
{
    Checks checks;
    bool devices = false;

    auto scheduler = check_schedulers(checks, options.choice);
    if (scheduler)
        check_devices(checks, *scheduler, devices);
    Preload preload = find_preload(options.preload);
    check_preload(checks, preload);
    check_gpus(checks, devices);
    check_nice(checks);
    check_cpu_nice(checks);
    check_kernel(checks);
    if (scheduler && !preload.path.empty())
        check_levels(checks, options.choice, preload.path);
    if (scheduler)
        check_mechanisms(checks, *scheduler);
    checks.push_back(
        {"RTLD_DEEPBIND", Level::Note,
         "a program that loads libcuda.so.1 with RTLD_DEEPBIND goes past the interposer and is not scheduled",
         "if \"ptsched stat\" does not show a program that was started by \"ptsched run\", look for it there"});

    auto problems = static_cast<std::size_t>(
        std::count_if(checks.begin(), checks.end(), [](const Check &check) { return check.level == Level::Problem; }));
    if (options.json) {
        print_json(checks, problems);
    } else {
        print_text(checks);
        std::cout << (problems ? std::to_string(problems) + " problem" + (problems > 1 ? "s" : "") : "no problems")
                  << "\n";
    }
    return problems ? 1 : 0;
}

} // namespace ptsched
