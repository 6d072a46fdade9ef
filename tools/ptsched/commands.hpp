/* SPDX-License-Identifier: MIT */
/* The subcommands: what their command lines say, and functions that do it and return the exit status. */
#ifndef PTSCHED_TOOL_COMMANDS_HPP
#define PTSCHED_TOOL_COMMANDS_HPP

#include "tools/ptsched/scheduler.hpp"

#include <string>
#include <vector>

namespace ptsched {

/* What a flag without a value is. */
inline constexpr const char *group_of_its_own = "true";

struct RunOptions {
    Choice choice;
    std::string nice;
    std::string device;
    std::string group; /* group_of_its_own: of this program and what it starts; empty: as the environment says */
    std::string preload;
    std::vector<std::string> words;              /* the program and its arguments, up to the first "--" */
    std::vector<std::string> words_after_dashes; /* and after it */
};

struct TopOptions {
    Choice choice;
    std::string device;
    std::string interval = "1s";
    bool once = false;
    bool accounts = false; /* users and cgroups, not processes, to begin with */
};

struct StatOptions {
    Choice choice;
    std::string device;
    bool json = false;
    bool accounts = false; /* users and cgroups instead of processes */
    bool openmetrics = false;
    std::string output; /* of openmetrics; empty: standard output */
};

struct SetOptions {
    Choice choice;
    std::string device;
    std::string pid;
    std::string user;
    std::string cgroup;
    std::vector<std::string> settings;
};

struct EventsOptions {
    Choice choice;
    std::string device;
    bool json = false;
    std::string count;
};

struct RecordOptions {
    Choice choice;
    std::string output = "ptsched.pftrace";
    std::string seconds;
    std::vector<std::string> words; /* as of RunOptions; empty: until it is stopped */
    std::vector<std::string> words_after_dashes;
};

struct DoctorOptions {
    Choice choice;
    bool json = false;
    std::string preload;
};

/* Of a command that is given a program, as env(1) has it: that cannot be started, or is not there. */
inline constexpr int exit_cannot_invoke = 126;
inline constexpr int exit_not_found = 127;

/* Becomes the program, or throws. */
int run(const RunOptions &options);
int top(const TopOptions &options);
int stat(const StatOptions &options);
int set(const SetOptions &options);
int events(const EventsOptions &options);
/* Returns the status of the program that it was given, if any. */
int record(const RecordOptions &options);
int doctor(const DoctorOptions &options);
/* What "doctor" has a program of its own do under the interposer, by this name; not for users. */
int try_levels();
inline constexpr const char *try_levels_name = "try-levels";

/* libptsched-preload.so: preload.cpp */
struct Preload {
    std::string path; /* empty: not found */
    std::vector<std::string> searched;
};
/* @given or $PTSCHED_PRELOAD, else beside this program, else where it is installed. */
Preload find_preload(const std::string &given);

} // namespace ptsched

#endif /* PTSCHED_TOOL_COMMANDS_HPP */
