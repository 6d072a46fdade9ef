// SPDX-License-Identifier: MIT
/* ptsched doctor: the machine. */
#include "tools/ptsched/checks.hpp"
#include "tools/ptsched/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <linux/capability.h>
#include <linux/membarrier.h>
#include <optional>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace ptsched {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> first_line(const fs::path &path)
{
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line))
        return std::nullopt;
    return line;
}

/* Where depmod has seen ptsched.ko for this kernel; empty: nowhere. */
std::string loadable_module(const std::string &release)
{
    fs::path folder = fs::path("/lib/modules") / release;
    std::ifstream dependencies(folder / "modules.dep");
    std::string line;

    while (std::getline(dependencies, line)) {
        std::string name = line.substr(0, line.find(':'));
        if (fs::path(name).filename().string().starts_with("ptsched.ko"))
            return folder / name;
    }
    return {};
}

void check_loaded(Checks &checks)
{
    utsname system{};
    uname(&system);
    std::string release = system.release;
    std::error_code error;

    if (fs::exists("/sys/module/ptsched", error)) {
        checks.push_back({"module", Level::Ok, "ptsched is loaded", ""});
        return;
    }
    if (!fs::exists("/proc/modules", error)) {
        checks.push_back({"module", Level::Note, "this kernel (" + release + ") cannot load modules",
                          "use the broker, ptschedd(8)"});
        return;
    }
    if (first_line("/proc/sys/kernel/modules_disabled").value_or("0") != "0") {
        checks.push_back({"module", Level::Note, "loading modules was disabled until the next boot",
                          "use the broker, ptschedd(8), or load ptsched early after boot"});
        return;
    }
    std::string path = loadable_module(release);
    if (path.empty())
        checks.push_back({"module", Level::Note, "not loaded, and there is no ptsched.ko for kernel " + release,
                          "dkms install ptsched/" PTSCHED_VERSION " -k " + release + " (needs linux-headers-" +
                              release + "), or use the broker, ptschedd(8)"});
    else
        checks.push_back(
            {"module", Level::Note, "not loaded; " + path + " fits this kernel", "modprobe ptsched (as root)"});
}

void check_node(Checks &checks)
{
    std::string node = device_node();
    std::error_code error;
    bool loaded = fs::exists("/sys/module/ptsched", error);

    if (access(node.c_str(), F_OK)) {
        if (loaded)
            checks.push_back({"device node", Level::Problem, node + " is missing although the module is loaded",
                              "is devtmpfs mounted on /dev? In a container, pass " + node + " into it"});
        else
            checks.push_back({"device node", Level::Note, node + " is missing: the module is not loaded", ""});
    } else if (access(node.c_str(), R_OK | W_OK)) {
        checks.push_back({"device node", Level::Problem, "no permission to open " + node + ": " + strerror(errno),
                          "install the udev rule 60-ptsched.rules (make install), then: udevadm trigger " + node});
    } else {
        checks.push_back({"device node", Level::Ok, node + " can be opened", ""});
    }
}

bool has_pidfd()
{
    long fd = syscall(SYS_pidfd_open, getpid(), 0);
    if (fd >= 0)
        close(static_cast<int>(fd));
    return fd >= 0;
}

bool has_memfd()
{
    int fd = memfd_create("ptsched-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

bool has_membarrier()
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool has_capability(unsigned int number)
{
    std::ifstream file("/proc/self/status");
    std::string line;
    while (std::getline(file, line))
        if (line.starts_with("CapEff:"))
            return std::stoull(line.substr(7), nullptr, 16) >> number & 1;
    return false;
}

/* "0000:17:00.0 [10de:2335]" for each display or 3D controller. */
std::vector<std::string> pci_gpus(bool &nvidia)
{
    std::vector<std::string> found;
    std::error_code error;

    for (const fs::directory_entry &device : fs::directory_iterator("/sys/bus/pci/devices", error)) {
        std::string type = first_line(device.path() / "class").value_or("");
        if (!type.starts_with("0x03"))
            continue;
        std::string vendor = first_line(device.path() / "vendor").value_or("0x????").substr(2);
        std::string model = first_line(device.path() / "device").value_or("0x????").substr(2);
        nvidia |= vendor == "10de";
        found.push_back(device.path().filename().string() + " [" + vendor + ":" + model + "]");
    }
    return found;
}

std::string join(const std::vector<std::string> &words)
{
    std::string text;
    for (const std::string &word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

void check_driver(Checks &checks, bool nvidia, bool scheduled)
{
    if (auto version = first_line("/proc/driver/nvidia/version")) {
        /* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  ..." */
        std::size_t begin = version->find(':');
        std::istringstream words(begin == std::string::npos ? *version : version->substr(begin + 1));
        std::string text, word;
        while (words >> word)
            text += (text.empty() ? "" : " ") + word;
        checks.push_back({"NVIDIA driver", Level::Ok, text, ""});
    } else if (nvidia) {
        checks.push_back(
            {"NVIDIA driver", Level::Problem, "an NVIDIA GPU, but no /proc/driver/nvidia/version",
             "install and load the NVIDIA driver (modprobe nvidia); in a container, pass the GPU into it"});
    } else {
        checks.push_back({"NVIDIA driver", scheduled ? Level::Note : Level::Problem, "not loaded",
                          scheduled ? "" : "CUDA programs need it"});
    }
}

void check_libcuda(Checks &checks, bool scheduled)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (!library) {
        checks.push_back(
            {"libcuda.so.1", scheduled ? Level::Note : Level::Problem, "the dynamic linker does not find it",
             "it comes with the NVIDIA driver (package libcuda1, or nvidia-container-toolkit in a container)"});
        return;
    }
    const link_map *map = nullptr;
    std::string path = "found";
    if (!dlinfo(library, RTLD_DI_LINKMAP, &map) && map && map->l_name)
        path = map->l_name;
    dlclose(library);
    checks.push_back({"libcuda.so.1", Level::Ok, path, ""});
}

} // namespace

void check_module(Checks &checks)
{
    check_loaded(checks);
    check_node(checks);
}

void check_kernel(Checks &checks)
{
    struct Feature {
        const char *name;
        bool there;
        const char *advice;
    };
    timespec resolution{};
    clock_getres(CLOCK_MONOTONIC, &resolution);
    const std::array features = {
        Feature{"pidfd_open (end of processes)", has_pidfd(),
                "a kernel of version 5.3 or newer that allows it (seccomp?)"},
        Feature{"memfd_create (shared pages)", has_memfd(), "a kernel that allows it (seccomp?)"},
        Feature{"membarrier (fast path)", has_membarrier(), "CONFIG_MEMBARRIER"},
        Feature{"high-resolution timers", resolution.tv_sec == 0 && resolution.tv_nsec == 1,
                "CONFIG_HIGH_RES_TIMERS and a usable clock source"},
    };
    utsname system{};
    uname(&system);
    std::string missing, advice;

    for (const Feature &feature : features) {
        if (feature.there)
            continue;
        missing += std::string(missing.empty() ? "" : ", ") + feature.name;
        advice += std::string(advice.empty() ? "" : "; ") + feature.advice;
    }
    std::string release = std::string("Linux ") + system.release;
    if (missing.empty())
        checks.push_back(
            {"kernel features", Level::Ok, release + " has pidfd, memfd, membarrier and high-resolution timers", ""});
    else
        checks.push_back({"kernel features", Level::Problem, release + " lacks " + missing, "needed: " + advice});
}

void check_nice(Checks &checks)
{
    rlimit limit{};
    getrlimit(RLIMIT_NICE, &limit);

    if (has_capability(CAP_SYS_NICE)) {
        checks.push_back({"nice", Level::Ok, "any nice value can be set (CAP_SYS_NICE)", ""});
        return;
    }
    int now = getpriority(PRIO_PROCESS, 0);
    int lowest = limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= 40 ? -20 : 20 - static_cast<int>(limit.rlim_cur);
    lowest = std::min(lowest, now);
    checks.push_back({"nice", lowest == -20 ? Level::Ok : Level::Note,
                      "nice values from " + std::to_string(lowest) + " to 19 can be set",
                      lowest == -20 ? ""
                                    : "for lower ones: a line \"USER - nice -20\" in /etc/security/limits.conf, "
                                      "LimitNICE= in a systemd unit, or root"});
}

void check_cpu_nice(Checks &checks)
{
    bool grouped = first_line("/proc/sys/kernel/sched_autogroup_enabled") == "1";
    if (grouped)
        checks.push_back({"CPU nice", Level::Note,
                          "where CPUs are busy, nice works only among the programs of one session "
                          "(sched_autogroup_enabled is 1)",
                          "to have it work among those of several terminals or services: "
                          "sysctl kernel.sched_autogroup_enabled=0; see sched(7)"});
    else
        checks.push_back({"CPU nice", Level::Ok, "nice works among all programs on a CPU", ""});
}

void check_gpus(Checks &checks, bool scheduled)
{
    bool nvidia = false;
    std::vector<std::string> gpus = pci_gpus(nvidia);
    std::error_code error;

    /* A sandbox may hide the bus but not the driver. */
    for (const fs::directory_entry &gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
        std::string name = gpu.path().filename();
        nvidia = true;
        if (join(gpus).find(name) == std::string::npos)
            gpus.push_back(name);
    }
    if (gpus.empty())
        checks.push_back({"GPUs", scheduled ? Level::Note : Level::Problem,
                          "no display or 3D controller on the PCI bus",
                          scheduled ? "" : "in a virtual machine or container, pass the GPU into it"});
    else
        checks.push_back({"GPUs", Level::Ok, join(gpus), ""});
    check_driver(checks, nvidia, scheduled);
    check_libcuda(checks, scheduled);
}

} // namespace ptsched
