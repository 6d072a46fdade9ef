// SPDX-License-Identifier: MIT
#ifndef PTSCHEDD_OPTIONS_HPP
#define PTSCHEDD_OPTIONS_HPP

#include "server.hpp"

#include <stdexcept>

namespace ptsched {

// What is wrong with the command line, as a sentence.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Options {
    std::string socket_path;
    std::vector<DeviceName> devices;
    bool devices_named = false; // by the user, some of them at least
    ptsp_params params = ptsp_default_params();
    bool help = false;
    bool version = false;
};

// Throws UsageError.
Options parse_options(int argc, char **argv);

extern const char kHelp[];

} // namespace ptsched

#endif
