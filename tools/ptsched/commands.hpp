/* SPDX-License-Identifier: MIT */
/* The subcommands. Each adds itself to the command line and returns its exit status. */
#ifndef PTSCHED_TOOL_COMMANDS_HPP
#define PTSCHED_TOOL_COMMANDS_HPP

#include "scheduler.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ptsched {

/* What a subcommand does once the command line has been read. */
using Action = std::function<int()>;

Action add_run(CLI::App &app);
Action add_top(CLI::App &app);
Action add_stat(CLI::App &app);
Action add_set(CLI::App &app);
Action add_events(CLI::App &app);
Action add_doctor(CLI::App &app);
/* What "doctor" has a program of its own do under the interposer; not for users. */
Action add_try_levels(CLI::App &app);

/* The words after the first "--" of "run", which CLI11 is not to look at. */
extern std::vector<std::string> words_after_dashes;

/* --module and --broker. */
void add_choice(CLI::App &command, Choice &choice);
/* An example below the options of --help. */
void add_example(CLI::App &command, const std::string &example);

/* libptsched-preload.so: preload.cpp */
struct Preload {
    std::string path; /* empty: not found */
    std::vector<std::string> searched;
};
/* @given or $PTSCHED_PRELOAD, else beside this program, else where it is installed. */
Preload find_preload(const std::string &given);

/* "GPU-..." of a PCI address, from the NVIDIA driver's files; empty: not known. */
std::string driver_uuid(const std::string &pci);

} // namespace ptsched

#endif /* PTSCHED_TOOL_COMMANDS_HPP */
