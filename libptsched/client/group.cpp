// SPDX-License-Identifier: MIT
#include "libptsched/client/group.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <linux/ptsched.h>

namespace ptsched {
namespace {

std::string value_of(const char *name)
{
    const char *value = secure_getenv(name);
    return value ? value : "";
}

/* A name is only good if all values are there, and where there are several processes. */
std::string named(const char *by, const char *count, const char *first, const char *second = nullptr)
{
    const std::string processes = count ? value_of(count) : "2", part = value_of(first),
                      rest = second ? value_of(second) : "";
    if (part.empty() || (second && rest.empty()) || std::strtoull(processes.c_str(), nullptr, 10) < 2)
        return {};
    return std::string(by) + " " + part + (second ? ":" + rest : "");
}

std::string group_of_launcher()
{
    /* What PyTorch's env:// takes, by whomever it was set: torchrun, accelerate, deepspeed, or the program itself. */
    std::string group = named("torch", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT");
    if (group.empty())
        group = named("mpi", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE");
    if (group.empty())
        group = named("slurm", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID");
    if (group.empty())
        group = named("nccl", nullptr, "NCCL_COMM_ID");
    return group;
}

/* FNV-1a, of what has no room. */
std::string shortened(const std::string &name)
{
    constexpr std::size_t most = PTSCHED_NAME_LEN - 1, digits = 16;
    if (name.size() <= most)
        return name;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char c : name)
        hash = (hash ^ c) * 0x100000001b3;
    char text[digits + 1];
    snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
    return name.substr(0, most - digits) + text;
}

} // namespace

std::string group_of_environment()
{
    if (!secure_getenv("PTSCHED_GROUP"))
        return shortened(group_of_launcher());
    const std::string given = value_of("PTSCHED_GROUP");
    return given == "none" ? std::string() : shortened(given);
}

} // namespace ptsched
