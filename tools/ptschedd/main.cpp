// SPDX-License-Identifier: MIT
/* ptschedd: the scheduler where no module can be loaded. */
#include "libptsched/base/be_prompt.hpp"
#include "tools/ptschedd/device_address.hpp"
#include "tools/ptschedd/log.hpp"
#include "tools/ptschedd/options.hpp"
#include "tools/standard_streams.hpp"

#include <cstdio>
#include <exception>

namespace {

int serve(const ptsched::Options &options)
{
    /* Everybody waits for its decisions. */
    ptsched::be_prompt();
    auto devices = options.devices;
    bool helping = false;
    /* What the module gives out nobody else may. */
    if (options.find_others && ptsched::module_is_loaded()) {
        helping = devices.empty();
    } else if (options.find_others) {
        devices = ptsched::find_devices(options.require_node);
        ptsched::add_devices(devices, options.devices);
    }
    ptsched::Server server(options.socket_path, devices, options.params);
    if (helping) {
        server.help_module();
        ptsched::warn("the module gives out the GPUs; helping it to take programs off them");
    } else if (devices.empty()) {
        ptsched::warn("no GPU found; name one with --device");
    }
    for (const auto &device : devices)
        ptsched::warn("serving %s%s%s", device.address.c_str(), device.uuid.empty() ? "" : " ", device.uuid.c_str());
    ptsched::warn("listening on %s", options.socket_path.c_str());
    if (options.params.grouping == PTSP_BY_CGROUP && !ptsched::has_cgroups())
        ptsched::warn("cgroup2 is not mounted here: every process counts as one of the root");
    server.run();
    return 0;
}

int try_to_serve(int argc, char **argv)
{
    try {
        ptsched::Options options = ptsched::parse_options(argc, argv);
        if (options.help) {
            fputs(ptsched::kHelp, stdout);
            return 0;
        }
        if (options.version) {
            puts("ptschedd " PTSCHED_VERSION);
            return 0;
        }
        return serve(options);
    } catch (const ptsched::UsageError &error) {
        ptsched::warn("%s\nTry 'ptschedd --help'.", error.what());
        return 2;
    } catch (const std::exception &error) {
        ptsched::warn("%s", error.what());
        return 1;
    }
}

} // namespace

int main(int argc, char **argv)
{
    ptsched::occupy_standard_streams();
    return ptsched::close_standard_output("ptschedd", try_to_serve(argc, argv));
}
