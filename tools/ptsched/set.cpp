// SPDX-License-Identifier: MIT
/* ptsched set: settings of devices, weights of processes. */
#include "commands.hpp"
#include "units.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace ptsched {

namespace {

struct Options {
    Choice choice;
    std::string device;
    std::string pid;
    std::vector<std::string> settings;
};

constexpr const char *settings_help =
    "Settings of a device:\n"
    "  policy=weighted|literal|none  by weight; as the PTask paper has it; account only\n"
    "  idle-sharing=on|off           unused time is given to who has used up theirs\n"
    "  many=on|off                   many turns at once, as in the paper\n"
    "  slice=TIME                    how long a turn is kept while others wait: 100us to 1s\n"
    "  grace=TIME                    how long an absent process keeps its share: 0 to 1s\n"
    "  drain=TIME                    from call-back to sharing by force: 1ms to 10s\n"
    "  inflight=TIME                 bound on work in flight while contended: 10us to 1s\n"
    "  alpha=NUMBER                  the paper's coefficient (policy literal): 0.001 to 1\n"
    "Setting of a process (--pid):\n"
    "  weight=N|auto                 1 to 1000000 instead of the weight of its nice; auto: from nice again\n"
    "Times are numbers with ns, us, ms or s. All settings are checked before any is applied.\n"
    "\nExamples:\n"
    "  ptsched set slice=20ms idle-sharing=off\n"
    "  ptsched set --pid 4711 weight=2048";

int set(const Options &options)
{
    /* What is wrong with the words is said before anything is asked of a scheduler. */
    std::optional<uint32_t> pid;
    uint32_t weight = 0;
    std::vector<Setting> settings;

    if (!options.pid.empty()) {
        pid = static_cast<uint32_t>(parse_integer("pid", options.pid, 1, INT32_MAX));
        weight = parse_weight(options.settings);
    } else {
        settings = parse_settings(options.settings);
    }

    auto scheduler = open_scheduler(options.choice);
    std::vector<Device> devices = scheduler->devices();
    std::optional<uint32_t> device;
    if (!options.device.empty())
        device = find_device(devices, options.device).id;
    if (devices.empty())
        throw Error("the scheduler at " + scheduler->path() + " knows no device: there is nothing to set");
    if (pid)
        scheduler->set_entity(*pid, weight, device);
    else
        scheduler->set_device(device, settings);
    return 0;
}

} // namespace

Action add_set(CLI::App &app)
{
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand("set", "change settings of devices, or the weight of a process");

    add_choice(*command, options->choice);
    command->add_option("--device", options->device, "this device (number, PCI address, UUID) instead of all")
        ->type_name("D");
    command->add_option("--pid", options->pid, "the process whose weight is set")->type_name("P");
    command->add_option("setting", options->settings, "SETTING=VALUE...")->required()->type_name("");
    command->footer(settings_help);
    return [options] { return set(*options); };
}

} // namespace ptsched
