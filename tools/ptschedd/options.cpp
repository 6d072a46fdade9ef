// SPDX-License-Identifier: MIT
#include "tools/ptschedd/options.hpp"

#include "libptsched/client/broker_protocol.h"
#include "libptsched/client/device_name.hpp"
#include "tools/ptschedd/device_address.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <getopt.h>

namespace ptsched {

const char kHelp[] =
    R"(Usage: ptschedd [OPTION]...
Gives out the time of this machine's GPUs by nice, for programs that use libptsched.

Where:
  --socket PATH         listen here ($PTSCHED_SOCKET, else /run/ptsched/broker.sock)
  --device ADDRESS      serve this device (0000:17:00.0) besides those found; repeatable
  --test-devices N      serve N devices without hardware, ffff:01:00.0 and so on,
                        and do not look for others

  --require-device-node 0|1
                        give turns on a GPU that was found only to who can open its node,
                        /dev/nvidia0 for example, or has CAP_SYS_NICE (1)

How (see ptsched-set(1); can be changed while it runs):
  --policy NAME         weighted (default), literal or none
  --grouping NAME       time is divided among processes: process (default), users: user,
                        or cgroups: cgroup
  --idle-sharing 0|1    unused time goes to who has used up its own (1)
  --many 0|1            any number of turns at once, as in the PTask paper (0)
  --slice-us N          how long a turn lasts while others wait (30000)
  --grace-us N          how long an absent program keeps its share (2000)
  --drain-us N          from call-back to sharing by force (100000)
  --inflight-us N       bound on work in flight while contended (2000)
  --alpha N             thousandths, policy literal (1000)

  --foreground          stay in the foreground (always so; accepted for scripts)
  --help, --version

Where the module ptsched is loaded, it gives out no device but those named here; with
none, it helps the module: it takes programs off a GPU that do not do so themselves.

SIGTERM ends it: programs go on unscheduled. PTSCHED_LOG=debug says more.
)";

namespace {

enum Option {
    kSocket = 256,
    kDevice,
    kTestDevices,
    kRequireNode,
    kPolicy,
    kGrouping,
    kIdleSharing,
    kMany,
    kSlice,
    kGrace,
    kDrain,
    kInflight,
    kAlpha,
    kForeground,
    kHelpOption,
    kVersion,
};

const option kOptions[] = {
    {"socket", required_argument, nullptr, kSocket},
    {"device", required_argument, nullptr, kDevice},
    {"test-devices", required_argument, nullptr, kTestDevices},
    {"require-device-node", required_argument, nullptr, kRequireNode},
    {"policy", required_argument, nullptr, kPolicy},
    {"grouping", required_argument, nullptr, kGrouping},
    {"idle-sharing", required_argument, nullptr, kIdleSharing},
    {"many", required_argument, nullptr, kMany},
    {"slice-us", required_argument, nullptr, kSlice},
    {"grace-us", required_argument, nullptr, kGrace},
    {"drain-us", required_argument, nullptr, kDrain},
    {"inflight-us", required_argument, nullptr, kInflight},
    {"alpha", required_argument, nullptr, kAlpha},
    {"foreground", no_argument, nullptr, kForeground},
    {"help", no_argument, nullptr, kHelpOption},
    {"version", no_argument, nullptr, kVersion},
    {},
};

std::uint64_t number(const char *name, const char *text, std::uint64_t from, std::uint64_t to)
{
    std::uint64_t value = 0;
    const char *end = text + strlen(text);
    auto [stopped, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stopped != end || text == end || value < from || value > to)
        throw UsageError("--" + std::string(name) + " '" + text + "': " + std::to_string(from) + " to " +
                         std::to_string(to) + " is possible");
    return value;
}

std::uint64_t microseconds(const char *name, const char *text, std::uint64_t from_ns, std::uint64_t to_ns)
{
    return number(name, text, from_ns / 1000, to_ns / 1000) * 1000;
}

ptsp_grouping grouping(const std::string &name)
{
    if (name == "process")
        return PTSP_BY_PROCESS;
    if (name == "user")
        return PTSP_BY_USER;
    if (name == "cgroup")
        return PTSP_BY_CGROUP;
    throw UsageError("--grouping '" + name + "': process, user or cgroup is possible");
}

ptsp_kind policy(const std::string &name)
{
    if (name == "weighted")
        return PTSP_WEIGHTED;
    if (name == "literal")
        return PTSP_LITERAL;
    if (name == "none")
        return PTSP_NONE;
    throw UsageError("--policy '" + name + "': weighted, literal or none is possible");
}

DeviceName device(const char *text)
{
    std::string address = canonical_address(text);
    if (address.empty())
        throw UsageError("--device '" + std::string(text) + "': a PCI address like 0000:17:00.0 is needed");
    return {address, uuid_of_address(address), 0};
}

void set_param(ptsp_params &params, int option, const char *name, const char *text)
{
    switch (option) {
    case kPolicy:
        params.kind = policy(text);
        break;
    case kGrouping:
        params.grouping = grouping(text);
        break;
    case kIdleSharing:
        params.idle_sharing = number(name, text, 0, 1);
        break;
    case kMany:
        params.many = number(name, text, 0, 1);
        break;
    case kSlice:
        params.slice_ns = microseconds(name, text, PTSCHED_SLICE_MIN_NS, PTSCHED_SLICE_MAX_NS);
        break;
    case kGrace:
        params.grace_ns = microseconds(name, text, 0, PTSCHED_GRACE_MAX_NS);
        break;
    case kDrain:
        params.drain_ns = microseconds(name, text, PTSCHED_DRAIN_MIN_NS, PTSCHED_DRAIN_MAX_NS);
        break;
    case kInflight:
        params.inflight_ns = microseconds(name, text, PTSCHED_INFLIGHT_MIN_NS, PTSCHED_INFLIGHT_MAX_NS);
        break;
    case kAlpha:
        params.alpha = static_cast<std::uint32_t>(number(name, text, 1, PTSCHED_ALPHA_MAX));
        break;
    }
}

} // namespace

void add_devices(std::vector<DeviceName> &devices, const std::vector<DeviceName> &more)
{
    for (const DeviceName &name : more) {
        bool known = std::any_of(devices.begin(), devices.end(),
                                 [&](const DeviceName &other) { return other.address == name.address; });
        if (!known)
            devices.push_back(name);
    }
}

Options parse_options(int argc, char **argv)
{
    Options options;
    const char *path = getenv("PTSCHED_SOCKET");
    options.socket_path = path ? path : PTSCHED_BROKER_SOCKET;
    std::vector<DeviceName> by_hand;

    opterr = 0;
    int which = 0;
    for (int option; (option = getopt_long(argc, argv, ":", kOptions, &which)) != -1;) {
        switch (option) {
        case kSocket:
            options.socket_path = optarg;
            break;
        case kDevice:
            by_hand.push_back(device(optarg));
            break;
        case kTestDevices:
            options.devices = test_devices(static_cast<unsigned>(number("test-devices", optarg, 1, 64)));
            options.find_others = false;
            break;
        case kRequireNode:
            options.require_node = number("require-device-node", optarg, 0, 1);
            break;
        case kForeground:
            break;
        case kHelpOption:
            options.help = true;
            return options;
        case kVersion:
            options.version = true;
            return options;
        case ':':
            throw UsageError(std::string(argv[optind - 1]) + " needs a value");
        case '?':
            throw UsageError(std::string(argv[optind - 1]) + ": no such option");
        default:
            set_param(options.params, option, kOptions[which].name, optarg);
        }
    }
    if (optind < argc)
        throw UsageError(std::string(argv[optind]) + ": options only, no arguments");
    add_devices(options.devices, by_hand);
    return options;
}

} // namespace ptsched
