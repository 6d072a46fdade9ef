// SPDX-License-Identifier: MIT
/*
 * How well decisions can be enforced on each GPU, and why not better: found out as a program finds it out, by this very
 * program started once more with the interposer.
 */
#include "libptsched/base/time_calls.hpp"
#include "libptsched/cuda/cuda_abi.h"
#include "tools/ptsched/checks.hpp"
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/json.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ptsched {

namespace {

/* Others may have the device; they need not give it up before their slice ends. */
constexpr unsigned patience_s = 20;
/* It may hang where no alarm ends it. */
constexpr std::uint64_t patience_ns = (patience_s + 5) * 1'000'000'000ULL;

/* A function of the driver's, through the interposer. */
template <typename Function> Function *entry(void *driver, const char *name)
{
    auto found = reinterpret_cast<Function *>(dlsym(driver, name));
    if (!found)
        throw Error(std::string("libcuda.so.1 has no ") + name);
    return found;
}

void check(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS)
        throw Error(std::string(what) + " fails with error " + std::to_string(result));
}

/* In a context of the device's, a turn is taken by a small submission; then the interposer tries. */
Json try_device(void *driver, int ordinal)
{
    CUcontext context;
    CUdevice device;
    CUdeviceptr memory;
    std::array<char, 32> address{};

    check(entry<CUresult(CUdevice *, int)>(driver, "cuDeviceGet")(&device, ordinal), "cuDeviceGet");
    check(entry<CUresult(char *, int, CUdevice)>(driver, "cuDeviceGetPCIBusId")(address.data(), address.size(), device),
          "cuDeviceGetPCIBusId");
    Json found = {{"pci", address.data()}};
    check(entry<CUresult(CUcontext *, CUdevice)>(driver, "cuDevicePrimaryCtxRetain")(&context, device),
          "cuDevicePrimaryCtxRetain");
    check(entry<CUresult(CUcontext)>(driver, "cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    check(entry<CUresult(CUdeviceptr *, std::size_t)>(driver, "cuMemAlloc_v2")(&memory, 4), "cuMemAlloc");
    check(entry<CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream)>(driver, "cuMemsetD8Async")(memory, 0, 4,
                                                                                                        nullptr),
          "cuMemsetD8Async");
    check(entry<CUresult()>(driver, "cuCtxSynchronize")(), "cuCtxSynchronize");

    auto try_level =
        reinterpret_cast<int (*)(int, int *, char *, std::size_t)>(dlsym(RTLD_DEFAULT, "ptsched_try_level"));
    if (!try_level)
        throw Error("the interposer is not loaded, or of another release");
    std::array<char, 256> why{};
    int helped = 0;
    int level = try_level(device, &helped, why.data(), why.size());
    if (level < 0)
        throw Error(std::string("the device is not scheduled: ") + strerror(-level));
    found["level"] = level;
    found["helped"] = helped != 0;
    found["why"] = why.data();
    return found;
}

void add_finding(Checks &checks, const Json &found)
{
    constexpr std::array<const char *, 3> levels = {
        "gate: submissions wait for the turn, and work in flight drains",
        "slice: the hardware's time slices are short for the heavier, and work in flight drains",
        "preempt: work in flight is taken off the hardware for the heavier",
    };
    if (found.contains("error")) {
        checks.push_back({"enforcement", Level::Note, "cannot be tried: " + found["error"].get<std::string>(), ""});
        return;
    }
    auto level = found["level"].get<std::size_t>();
    auto why = found["why"].get<std::string>();
    std::string finding = level < levels.size() ? levels[level] : "not known to this tool";
    if (level + 1 == levels.size())
        finding += found["helped"].get<bool>() ? ", by ptschedd" : ", by the program's own thread";
    if (!why.empty())
        finding += "; no better, since " + why;
    checks.push_back({"enforcement on " + found["pci"].get<std::string>(),
                      level + 1 == levels.size() ? Level::Ok : Level::Note, finding, ""});
}

/* What comes until the end, or until the time is up, which ends the child. */
std::string output_of(int fd, pid_t child)
{
    const std::uint64_t end_ns = monotonic_ns() + patience_ns;
    std::string output;
    std::array<char, 4096> part;
    for (;;) {
        const std::uint64_t now_ns = monotonic_ns();
        pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
        if (now_ns >= end_ns || poll_within(&readable, 1, end_ns - now_ns) == 0) {
            kill(child, SIGKILL);
            return output;
        }
        const ssize_t got = read(fd, part.data(), part.size());
        if (got == 0 || (got < 0 && errno != EINTR))
            return output;
        output.append(part.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    }
}

/* The child's standard output and how it ended. */
std::string run_child(const Choice &choice, const std::string &preload, int &status)
{
    std::vector<std::string> words = {"ptsched", "run", "--preload", preload};
    if (choice.module)
        words.emplace_back("--module");
    if (!choice.broker.empty())
        words.insert(words.end(), {"--broker", choice.broker});
    words.insert(words.end(), {"--", std::filesystem::read_symlink("/proc/self/exe"), try_levels_name});
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);

    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        throw Error(std::string("cannot make a pipe: ") + strerror(errno));
    pid_t child = fork();
    if (child < 0)
        throw Error(std::string("cannot fork: ") + strerror(errno));
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execv("/proc/self/exe", arguments.data());
        _exit(127);
    }
    close(ends[1]);
    std::string output = output_of(ends[0], child);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return output;
}

} // namespace

/* What the child prints: a line of JSON for each device, or one with an error. */
int try_levels()
{
    alarm(patience_s);
    try {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW);
        if (!driver)
            throw Error(dlerror());
        int count = 0;
        check(entry<CUresult(unsigned)>(driver, "cuInit")(0), "cuInit");
        check(entry<CUresult(int *)>(driver, "cuDeviceGetCount")(&count), "cuDeviceGetCount");
        for (int ordinal = 0; ordinal < count; ordinal++)
            std::cout << dump_json(try_device(driver, ordinal), -1) << std::endl;
        return 0;
    } catch (const Error &error) {
        std::cout << dump_json({{"error", error.what()}}, -1) << std::endl;
        return 1;
    }
}

void check_levels(Checks &checks, const Choice &choice, const std::string &preload)
{
    /* A machine without the driver has been told so. */
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!driver)
        return;
    dlclose(driver);
    int status = 0;
    std::istringstream lines(run_child(choice, preload, status));
    for (std::string line; std::getline(lines, line);) {
        Json found = Json::parse(line, nullptr, false);
        if (!found.is_discarded())
            add_finding(checks, found);
    }
    if (WIFSIGNALED(status))
        checks.push_back(
            {"enforcement", Level::Note,
             WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL
                 ? "cannot be tried: no turn in " + std::to_string(patience_s) + " s"
                 : "cannot be tried: the program that tries ended with signal " + std::to_string(WTERMSIG(status)),
             "PTSCHED_LOG=debug ptsched run -- PROGRAM says what happens"});
}

} // namespace ptsched
