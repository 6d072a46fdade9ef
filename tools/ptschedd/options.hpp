/* SPDX-License-Identifier: MIT */
#ifndef PTSCHEDD_OPTIONS_HPP
#define PTSCHEDD_OPTIONS_HPP

#include "tools/ptschedd/server.hpp"

#include <stdexcept>

namespace ptsched {

/* What is wrong with the command line, as a sentence. */
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Options {
    std::string socket_path;
    std::vector<DeviceName> devices; /* named by the user */
    bool find_others = true;
    bool require_node = true; /* of those found */
    ptsp_params params = ptsp_default_params();
    bool help = false;
    bool version = false;
};

/* Those of @more that are not among them yet. */
void add_devices(std::vector<DeviceName> &devices, const std::vector<DeviceName> &more);

/* Throws UsageError. */
Options parse_options(int argc, char **argv);

extern const char kHelp[];

} // namespace ptsched

#endif
