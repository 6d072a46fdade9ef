/* SPDX-License-Identifier: MIT */
/* Commands of the shell, whose results are files. */
#ifndef SAMPLES_SPMD_WORDCOUNT_COMMAND_HPP
#define SAMPLES_SPMD_WORDCOUNT_COMMAND_HPP

#include <csignal>
#include <map>
#include <string>

namespace ptsched::samples::wordcount {

/* While it lives, who wants to end the program makes run_command() throw, so that files are removed. One at a time. */
class Interruptions {
public:
    Interruptions();
    ~Interruptions();
    Interruptions(const Interruptions &) = delete;
    Interruptions &operator=(const Interruptions &) = delete;

private:
    std::map<int, struct sigaction> before_;
};

/*
 * Runs it by sh, with variables besides those of this process and its standard output in a file, and waits. Throws
 * Error if it fails, takes longer than @seconds, or is interrupted: then all of its processes have been ended.
 */
void run_command(const std::string &command, const std::map<std::string, std::string> &variables,
                 const std::string &output, unsigned seconds);

} // namespace ptsched::samples::wordcount

#endif /* SAMPLES_SPMD_WORDCOUNT_COMMAND_HPP */
