// SPDX-License-Identifier: MIT
/* What was measured, as JSON, in a file of the user's cache. */
#include "libptsched/spmd/roofline/host.hpp"
#include <ptsched/base/fd.hpp>
#include <ptsched/device/parallel.hpp>
#include <ptsched/spmd/roofline.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace ptsched::spmd::model {

namespace {

using nlohmann::json;

/* Raised when what is measured means something else than before. */
constexpr int version = 2;
/* What another process measures is waited for, but not for longer. */
constexpr std::chrono::seconds most_wait{60};
constexpr std::chrono::milliseconds nap{20};

json of_peak(const Peak &peak)
{
    return {{"fp32", peak.fp32}, {"fp64", peak.fp64}};
}

double number(const json &object, const char *name)
{
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number() || !(found->get<double>() >= 0))
        throw Error(std::string("what was measured of a machine has no number '") + name + "' from 0 on");
    return found->get<double>();
}

std::string text(const json &object, const char *name)
{
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string())
        throw Error(std::string("what was measured of a machine has no text '") + name + "'");
    return found->get<std::string>();
}

const json &part(const json &object, const char *name)
{
    const auto found = object.find(name);
    if (found == object.end())
        throw Error(std::string("what was measured of a machine has no '") + name + "'");
    return *found;
}

Peak peak_in(const json &object)
{
    const json &peak = part(object, "peak");
    return {number(peak, "fp32"), number(peak, "fp64")};
}

/* FNV-1a: it is the same in each process. */
std::uint64_t hash_of(const std::string &key)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char c : key)
        hash = (hash ^ c) * 0x100000001b3;
    return hash;
}

std::filesystem::path cache_folder()
{
    const char *const cache = std::getenv("XDG_CACHE_HOME"), *const home = std::getenv("HOME");
    if (cache && *cache == '/')
        return std::filesystem::path(cache) / "ptsched";
    return home && *home == '/' ? std::filesystem::path(home) / ".cache" / "ptsched" : std::filesystem::path();
}

/* Others see the whole file or none. */
void keep(const std::filesystem::path &file, const Machine &machine)
{
    std::error_code ignored;
    std::filesystem::path unfinished = file;
    unfinished += "." + std::to_string(getpid());
    std::ofstream stream(unfinished);
    stream << to_json(machine) << "\n";
    stream.close();
    if (stream)
        std::filesystem::rename(unfinished, file, ignored);
    if (!stream || ignored)
        std::filesystem::remove(unfinished, ignored);
}

std::optional<Machine> kept(const std::filesystem::path &file)
{
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream)
        return std::nullopt;
    try {
        return machine_from_json(text);
    } catch (const Error &) {
        return std::nullopt;
    }
}

/* The first process of a host measures, and others wait; all at once, each would have a part of the machine. */
class OneAtATime {
public:
    explicit OneAtATime(const std::filesystem::path &file)
    {
        std::error_code ignored;
        std::filesystem::create_directories(file.parent_path(), ignored);
        folder_ = above_streams(open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const auto until = std::chrono::steady_clock::now() + most_wait;
        while (folder_ && flock(folder_.get(), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK &&
               std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(nap);
    }

private:
    UniqueFd folder_;
};

} // namespace

std::string to_json(const Machine &machine)
{
    json gpus = json::array();
    for (const Gpu &gpu : machine.gpus)
        gpus.push_back({{"name", gpu.name},
                        {"peak", of_peak(gpu.peak)},
                        {"dram", gpu.dram},
                        {"to_gpu", gpu.to_gpu},
                        {"to_host", gpu.to_host},
                        {"latency", gpu.latency},
                        {"memory", gpu.memory}});
    const Cpu &cpu = machine.cpu;
    return json{{"version", version},
                {"name", machine.name},
                {"cpu",
                 {{"name", cpu.name},
                  {"cores", cpu.cores},
                  {"peak", of_peak(cpu.peak)},
                  {"dram", cpu.dram},
                  {"latency", cpu.latency}}},
                {"gpus", gpus},
                {"network", machine.network},
                {"disk", machine.disk}}
        .dump(2, ' ', false, json::error_handler_t::replace);
}

Machine machine_from_json(const std::string &from)
{
    const json object = json::parse(from, nullptr, false);
    if (!object.is_object())
        throw Error("what was measured of a machine is no JSON object");
    if (number(object, "version") != version)
        throw Error("what was measured of a machine is of another version than " + std::to_string(version) +
                    ": measure it again, with ptsched-roofline --refresh");
    Machine machine;
    machine.name = text(object, "name");
    const json &cpu = part(object, "cpu");
    machine.cpu = {.name = text(cpu, "name"),
                   .cores = static_cast<unsigned>(number(cpu, "cores")),
                   .peak = peak_in(cpu),
                   .dram = number(cpu, "dram"),
                   .latency = number(cpu, "latency")};
    for (const json &gpu : part(object, "gpus"))
        machine.gpus.push_back({.name = text(gpu, "name"),
                                .peak = peak_in(gpu),
                                .dram = number(gpu, "dram"),
                                .to_gpu = number(gpu, "to_gpu"),
                                .to_host = number(gpu, "to_host"),
                                .latency = number(gpu, "latency"),
                                .memory = static_cast<std::uint64_t>(number(gpu, "memory"))});
    machine.network = number(object, "network");
    machine.disk = number(object, "disk");
    return machine;
}

std::filesystem::path machine_file(bool gpus)
{
    const std::filesystem::path folder = cache_folder();
    if (folder.empty())
        return {};
    std::string key = host_name() + "\n" + cpu_model() + "\n" + std::to_string(device::host_processors());
    if (gpus) {
        for (const device::Device *gpu : device::gpus())
            key += "\n" + gpu->name() + "\n" + gpu->bus_address();
        key += "\n" + gpu_driver();
    }
    char name[64];
    std::snprintf(name, sizeof(name), "roofline-%016llx.json", static_cast<unsigned long long>(hash_of(key)));
    return folder / name;
}

/* All nodes take part in what is measured of the network, and so whatever is known here does not matter. */
Machine machine(const MeasureOptions &options, bool refresh)
{
    const double network = options.network ? options.network() : 0;
    const std::filesystem::path file = machine_file(options.gpus);
    std::optional<Machine> known = refresh || file.empty() ? std::nullopt : kept(file);
    if (known && network <= 0)
        return *known;
    const OneAtATime alone(file);
    if (!refresh)
        known = kept(file);
    if (!known)
        known = measure({.gpus = options.gpus, .attach = options.attach, .bytes = options.bytes});
    if (network > 0)
        known->network = network;
    if (!file.empty())
        keep(file, *known);
    return *known;
}

} // namespace ptsched::spmd::model
