// SPDX-License-Identifier: MIT
/* ptsched run: start a program with the interposer, a nice value and a device. */
#include "libptsched/client/device_name.hpp"
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/elf.hpp"
#include "tools/ptsched/units.hpp"
#include <ptsched/base/fd.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <linux/ptsched.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace ptsched {

namespace {

/* As env(1) has it, of its own failures. */
constexpr int exit_own_failure = 125;

/* As sched_setattr(2) has it; <linux/sched/types.h> and <sched.h> cannot both be included. */
struct SchedAttributes {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime; /* ns; of a fair task its slice */
    std::uint64_t deadline;
    std::uint64_t period;
};

/*
 * However light another task is, since Linux 6.6 it may finish its slice of the CPU (milliseconds) where this one was
 * interrupted for a moment; since 6.17 at most the shortest slice on that CPU. Kernels before 6.12 ignore it.
 */
void shorten_cpu_slice()
{
    SchedAttributes attributes{};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) || attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime = 100000;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void set_nice(const std::string &text)
{
    auto nice = static_cast<int>(parse_integer("nice", text, -20, 19));

    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (setpriority(PRIO_PROCESS, 0, nice) == 0) {
        if (nice < 0)
            shorten_cpu_slice();
        return;
    }
    int error = errno;
    std::string message = "cannot set nice " + text + ": " + strerror(error);
    if (error == EACCES || error == EPERM) {
        rlimit limit{};
        getrlimit(RLIMIT_NICE, &limit);
        message += "; going below the present " + std::to_string(now) + " needs CAP_SYS_NICE (root) or RLIMIT_NICE (" +
                   "ulimit -e) of at least " + std::to_string(20 - nice) + ", which is " +
                   (limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur));
    }
    throw Error(message, exit_own_failure);
}

void set_environment(const char *name, const std::string &value)
{
    if (setenv(name, value.c_str(), 1))
        throw Error(std::string("cannot set ") + name + ": " + strerror(errno), exit_own_failure);
}

void set_preload(const std::string &given)
{
    Preload preload = find_preload(given);

    if (preload.path.empty()) {
        std::string message = "libptsched-preload.so is not there; looked for";
        for (const std::string &place : preload.searched)
            message += " " + place;
        throw Error(message + "; name it with --preload or PTSCHED_PRELOAD", exit_own_failure);
    }
    /* The dynamic linker takes both for separators and has no way to quote them. */
    if (preload.path.find_first_of(" :") != std::string::npos)
        throw Error("the dynamic linker cannot preload a library with a space or colon in its path: " + preload.path,
                    exit_own_failure);
    if (access(preload.path.c_str(), R_OK))
        throw Error("cannot read " + preload.path + ": " + strerror(errno), exit_own_failure);
    /* After the others: what watches calls sees them as without us, and a runtime that must be the first is. */
    const char *others = std::getenv("LD_PRELOAD");
    set_environment("LD_PRELOAD", (others && *others ? std::string(others) + ":" : "") + preload.path);
}

/*
 * A program with the address sanitizer's shared library accepts no other before that. The interposer says that it may
 * be so, unless the program itself has answered what the sanitizer asks.
 */
void allow_preload(const std::string &program)
{
    if (!exported_symbols(program).count("__asan_default_options"))
        return;
    const char *given = std::getenv("ASAN_OPTIONS");
    std::string options = given ? given : "";
    if (options.find("verify_asan_link_order") == std::string::npos)
        set_environment("ASAN_OPTIONS", options + (options.empty() ? "" : ":") + "verify_asan_link_order=0");
}

/* CUDA knows UUIDs; a number or an address is the scheduler's. */
std::string device_uuid(const RunOptions &options)
{
    if (options.device.starts_with("GPU-") || options.device.starts_with("MIG-"))
        return options.device;

    std::string pci = options.device;
    std::string problem;
    try {
        auto scheduler = open_scheduler(options.choice);
        Device device = find_device(scheduler->devices(), options.device);
        if (!device.uuid.empty())
            return device.uuid;
        pci = device.pci;
    } catch (const Error &error) {
        problem = error.what();
    }
    std::string uuid = uuid_of_address(pci);
    if (uuid.empty())
        uuid = uuid_of_address("0000:" + pci);
    if (uuid.empty())
        throw Error(!problem.empty() ? problem
                                     : "the UUID of " + pci +
                                           ", by which CUDA is told of it, is known neither to the scheduler nor to "
                                           "the NVIDIA driver; name the device by its UUID (nvidia-smi -L)",
                    exit_own_failure);
    return uuid;
}

/* Who has none of its own to name has one by this process, which becomes the program. */
void set_group(const std::string &group)
{
    if (group.size() >= PTSCHED_NAME_LEN)
        throw Error("the group's name " + group + " is too long: at most " + std::to_string(PTSCHED_NAME_LEN - 1) +
                        " bytes",
                    exit_own_failure);
    set_environment("PTSCHED_GROUP", group == group_of_its_own ? "run " + std::to_string(getpid()) : group);
}

/* A node may be there without the module. */
bool module_answers()
{
    return static_cast<bool>(UniqueFd(open(device_node().c_str(), O_RDWR | O_CLOEXEC)));
}

/* Where that path leads from any folder: the program may change its own before it uses it. */
std::string absolute(const std::string &path)
{
    std::error_code error;
    std::string found = std::filesystem::absolute(path, error).lexically_normal();
    if (error)
        throw Error("cannot tell where " + path + " is: " + error.message(), exit_own_failure);
    return found;
}

/* The path in this variable of the environment, if there is one. */
void make_absolute(const char *name)
{
    const char *path = std::getenv(name);
    if (path && *path && *path != '/')
        set_environment(name, absolute(path));
}

std::string checked_socket(const std::string &path)
{
    constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    const std::string found = absolute(path);
    if (found.size() > longest)
        throw Error("the broker's socket " + found + " has too long a name: at most " + std::to_string(longest) +
                        " bytes",
                    exit_own_failure);
    return found;
}

/* The program sees the scheduler that was asked for; libptsched reads these names. */
void set_scheduler(const Choice &choice)
{
    for (const char *name : {"PTSCHED_SOCKET", "PTSCHED_DEVICE_NODE", "PTSCHED_STATS", "PTSCHED_PRELOAD"})
        make_absolute(name);
    /* Before the broker the module is taken where it is; the interposer finds its helper at the broker's socket. */
    if (choice.module && !module_answers())
        set_environment("PTSCHED_SOCKET", "/nonexistent");
    if (choice.broker.empty())
        return;
    set_environment("PTSCHED_SOCKET", checked_socket(choice.broker));
    set_environment("PTSCHED_DEVICE_NODE", "/nonexistent");
}

/* The file that execvp() will take; empty: none. */
std::string find_program(const std::string &name)
{
    if (name.find('/') != std::string::npos)
        return name;
    const char *path = std::getenv("PATH");
    std::string folders = path ? path : "/bin:/usr/bin";
    std::string folder;
    for (std::size_t begin = 0; begin <= folders.size(); begin += folder.size() + 1) {
        folder = folders.substr(begin, folders.find(':', begin) - begin);
        std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        struct stat info;
        if (!stat(candidate.c_str(), &info) && S_ISREG(info.st_mode) && !access(candidate.c_str(), X_OK))
            return candidate;
    }
    return {};
}

/* Why the dynamic linker would ignore LD_PRELOAD for @program; empty: it would not. */
std::string why_no_effect(const std::string &program)
{
    struct stat info;
    std::string interpreter;

    if (stat(program.c_str(), &info))
        return {};
    if ((info.st_mode & S_ISUID && info.st_uid != geteuid()) || (info.st_mode & S_ISGID && info.st_gid != getegid()))
        return program + " is setuid or setgid";
    if (geteuid() != 0 && getxattr(program.c_str(), "security.capability", nullptr, 0) > 0)
        return program + " has file capabilities";
    switch (linking_of(program, interpreter)) {
    case Linking::Static:
        return program + " is statically linked";
    case Linking::Musl:
        return program + " is for the C library musl, with which no CUDA driver runs";
    case Linking::Foreign:
        return program + " is for another kind of machine (32-bit?) than the interposer";
    case Linking::Script:
        if (!interpreter.empty() && linking_of(interpreter, interpreter) == Linking::Static)
            return "the interpreter of " + program + " is statically linked";
        return {};
    default:
        return {};
    }
}

/* Never returns: the program, or the reason why not. */
[[noreturn]] void execute(std::vector<std::string> words)
{
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());

    int error = errno;
    std::string program = find_program(words[0]);
    struct stat info;
    std::string interpreter;
    bool exists = !program.empty() && !stat(program.c_str(), &info);
    std::string reason = strerror(error);
    if (exists && S_ISDIR(info.st_mode))
        reason = "is a directory";
    else if (error == ENOENT && exists && linking_of(program, interpreter) == Linking::Script)
        reason = "its interpreter " + interpreter + " does not exist";
    else if (error == ENOENT && exists)
        reason = "its dynamic linker does not exist here";
    else if (error == ENOENT && words[0].find('/') == std::string::npos)
        reason = "not found in PATH";
    else if (error == EACCES)
        reason += "; it must be a file with permission to execute";
    throw Error("cannot run " + words[0] + ": " + reason,
                error == ENOENT && !exists ? exit_not_found : exit_cannot_invoke);
}

[[noreturn]] void start(const RunOptions &options)
{
    std::vector<std::string> words = program_words("run", options.words, options.words_after_dashes);
    if (words.empty() || words[0].empty())
        throw Error("run needs a program, as in: ptsched run --nice 10 -- python3 train.py", exit_own_failure);

    /* What is wrong with the words is said before anything is done. */
    if (!options.nice.empty())
        parse_integer("nice", options.nice, -20, 19);
    if (!options.device.empty())
        set_environment("CUDA_VISIBLE_DEVICES", device_uuid(options));
    if (!options.group.empty())
        set_group(options.group);
    set_preload(options.preload);
    set_scheduler(options.choice);
    if (!options.nice.empty())
        set_nice(options.nice);
    std::string program = find_program(words[0]);
    allow_preload(program);
    std::string problem = why_no_effect(program);
    if (!problem.empty())
        std::cerr << "ptsched: warning: " << problem << ": the interposer has no effect, it runs unscheduled\n";
    execute(std::move(words));
}

} // namespace

int run(const RunOptions &options)
{
    try {
        start(options);
    } catch (const Error &error) {
        throw Error(error.what(), std::max(error.status(), exit_own_failure));
    }
}

} // namespace ptsched
