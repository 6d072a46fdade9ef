// SPDX-License-Identifier: MIT
/* Prints what the virtual GPU did and for whom: the ground truth that a scheduler's accounts are compared with. */
#include "tests/vgpu/libcuda/link.h"
#include "tools/standard_streams.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

struct DeviceStats {
    vgpu_device_stats device{};
    std::vector<vgpu_owner_stats> owners;
};

void check(int error, const char *what)
{
    if (error)
        throw std::runtime_error(std::string(what) + ": " + std::strerror(-error));
}

std::vector<DeviceStats> collect(vgpu::Link &link)
{
    vgpu_info info{};
    check(link.info(info), "asking the virtual GPU");
    std::vector<DeviceStats> all(info.devices);
    for (std::uint32_t i = 0; i < info.devices; i++) {
        all[i].device.device = i;
        check(link.stats(all[i].device, all[i].owners), "statistics");
    }
    return all;
}

std::size_t workers(const std::vector<DeviceStats> &all)
{
    std::set<std::uint32_t> pids;
    for (const auto &stats : all)
        for (const auto &owner : stats.owners)
            if (owner.items)
                pids.insert(owner.pid);
    return pids.size();
}

struct Items {
    std::uint64_t own = 0;
    std::uint64_t others = 0;
    std::uint64_t own_ns = 0; /* that it had the GPU */
    std::uint64_t others_ns = 0;
};

Items items_of(const std::vector<DeviceStats> &all, std::uint32_t pid)
{
    Items items;
    bool alive = false;
    for (const auto &stats : all)
        for (const auto &owner : stats.owners) {
            (owner.pid == pid ? items.own : items.others) += owner.items;
            (owner.pid == pid ? items.own_ns : items.others_ns) += owner.union_ns;
            alive = alive || (owner.pid == pid && owner.contexts);
        }
    if (!alive)
        throw std::runtime_error("process " + std::to_string(pid) + " has no context on the virtual GPU");
    return items;
}

/* Returns once PID's work has run and then only others' did. Between two such instants lies a whole number of turns. */
void wait_for_turn_end(vgpu::Link &link, std::uint32_t pid)
{
    constexpr std::uint64_t settled = 4; /* others' work that ran since PID's last */
    const Items start = items_of(collect(link), pid);
    Items last = start;

    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        Items now = items_of(collect(link), pid);
        if (now.own != last.own)
            last = now;
        else if (now.own != start.own && now.others >= last.others + settled)
            return;
    }
}

/*
 * Returns once PID stands in the middle of a kernel of that length while others get on, and have had the GPU for more
 * than one that waits for its next slice would let them. It may do so for some tens of milliseconds only, in which a
 * program that is started to look comes too late.
 */
void wait_until_off(vgpu::Link &link, std::uint32_t pid, std::uint64_t kernel_ns)
{
    constexpr std::uint64_t least_ns = 1000000; /* work that is not a kernel takes less */
    vgpu_info info{};
    check(link.info(info), "asking the virtual GPU");
    const std::uint64_t compute_slice_ns = 1000ULL * info.slice_us[0] * info.scale;
    Items last = items_of(collect(link), pid);

    for (;; std::this_thread::yield()) {
        const Items now = items_of(collect(link), pid);
        if (now.own_ns != last.own_ns)
            last = now;
        else if (now.own_ns % kernel_ns > least_ns && now.others != last.others &&
                 now.others_ns - last.others_ns > 2 * compute_slice_ns)
            return;
    }
}

nlohmann::json to_json(const DeviceStats &stats)
{
    const auto &d = stats.device;
    nlohmann::json owners = nlohmann::json::array();

    for (const auto &owner : stats.owners)
        owners.push_back({{"pid", owner.pid},
                          {"name", std::string(owner.name, strnlen(owner.name, sizeof(owner.name)))},
                          {"contexts", owner.contexts},
                          {"gpu_ns", owner.union_ns},
                          {"compute_ns", owner.busy_ns[0]},
                          {"copy_ns", owner.busy_ns[1]},
                          {"items", owner.items}});
    return {{"device", d.device},
            {"elapsed_ns", d.elapsed_ns},
            {"busy_ns", d.busy_ns},
            {"idle_ns", d.elapsed_ns - d.busy_ns},
            {"compute_ns", d.runlist_busy_ns[0]},
            {"copy_ns", d.runlist_busy_ns[1]},
            {"switching_ns", d.switching_ns[0]},
            {"switches", d.switches[0]},
            {"memory_bytes", d.memory_bytes},
            {"memory_used", d.memory_used},
            {"owners", owners}};
}

void print(const DeviceStats &stats)
{
    const auto &d = stats.device;
    auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };

    std::printf(
        "device %u: %.3f ms, busy %.3f, idle %.3f, of which switching %.3f in %llu switches; %llu of %llu MiB\n",
        d.device, ms(d.elapsed_ns), ms(d.busy_ns), ms(d.elapsed_ns - d.busy_ns), ms(d.switching_ns[0]),
        static_cast<unsigned long long>(d.switches[0]), static_cast<unsigned long long>(d.memory_used >> 20),
        static_cast<unsigned long long>(d.memory_bytes >> 20));
    if (!stats.owners.empty())
        std::printf("%9s %-16s %12s %12s %12s %9s\n", "pid", "name", "gpu ms", "compute ms", "copy ms", "items");
    for (const auto &owner : stats.owners)
        std::printf("%9u %-16.16s %12.3f %12.3f %12.3f %9llu%s\n", owner.pid, owner.name, ms(owner.union_ns),
                    ms(owner.busy_ns[0]), ms(owner.busy_ns[1]), static_cast<unsigned long long>(owner.items),
                    owner.contexts ? "" : "  ended");
}

int run(int argc, char **argv)
{
    CLI::App app{"Ground truth of the virtual GPU: time by device and by process, ended ones included."};
    bool json = false, reset = false, count = false;
    std::uint32_t turn_of = 0, off = 0;
    std::uint64_t kernel_us = 0;

    auto *as_json = app.add_flag("--json", json, "print JSON");
    app.add_flag("--owners", count, "print only how many processes have had work executed")->excludes(as_json);
    app.add_option("--turn-end", turn_of, "first wait until this process's work has run and others' followed it")
        ->type_name("PID");
    auto *length =
        app.add_option("--kernel-us", kernel_us, "how long that process's kernels are")->check(CLI::PositiveNumber);
    app.add_option("--until-off", off, "first wait until this process stands in a kernel while others get on")
        ->type_name("PID")
        ->needs(length);
    app.add_flag("--reset", reset, "set every counter to zero and forget ended processes; prints nothing by itself");
    CLI11_PARSE(app, argc, argv);
    try {
        auto link = vgpu::open_link();
        if (!link)
            throw std::runtime_error(
                std::string("no virtual GPU: neither vgpu.ko nor vgpud answers (PTSCHED_VGPU_SOCKET): ") +
                std::strerror(errno));
        if (turn_of)
            wait_for_turn_end(*link, turn_of);
        if (off)
            wait_until_off(*link, off, kernel_us * 1000);
        auto all = collect(*link);
        if (json) {
            nlohmann::json devices = nlohmann::json::array();
            for (const auto &stats : all)
                devices.push_back(to_json(stats));
            std::printf("%s\n", nlohmann::json({{"devices", devices}}).dump(2).c_str());
        } else if (count) {
            std::printf("%zu\n", workers(all));
        } else if (!reset) {
            for (const auto &stats : all)
                print(stats);
        }
        if (reset)
            check(link->reset_stats(), "reset");
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "vgpu-stat: %s\n", error.what());
        return 1;
    }
}

} // namespace

int main(int argc, char **argv)
{
    ptsched::occupy_standard_streams();
    return ptsched::close_standard_output("vgpu-stat", run(argc, argv));
}
