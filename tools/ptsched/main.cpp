// SPDX-License-Identifier: MIT
/*
 * ptsched: run programs under the scheduler, see what it does, change its settings. The command line; only this file
 * knows CLI11, which takes long to compile.
 */
#include "tools/ptsched/commands.hpp"
#include "tools/standard_streams.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>

namespace {

/* What a subcommand does once the command line has been read. */
using Action = std::function<int()>;

/* The words after the first "--" of "run" and "record", which CLI11 is not to look at. */
std::vector<std::string> words_after_dashes;

constexpr const char *device_help = "only this device: number, PCI address or UUID";

constexpr const char *settings_help =
    "Settings of a device:\n"
    "  policy=weighted|literal|none  by weight; as the PTask paper has it; account only\n"
    "  grouping=process|user|cgroup  time is divided among processes; or first among users, or cgroups\n"
    "  idle-sharing=on|off           unused time is given to who has used up theirs\n"
    "  many=on|off                   many turns at once, as in the paper\n"
    "  slice=TIME                    how long a turn is kept while others wait: 100us to 1s\n"
    "  grace=TIME                    how long an absent process keeps its share: 0 to 1s\n"
    "  drain=TIME                    from call-back to sharing by force: 1ms to 10s\n"
    "  inflight=TIME                 bound on work in flight while contended: 10us to 1s\n"
    "  alpha=NUMBER                  the paper's coefficient (policy literal): 0.001 to 1\n"
    "  node=PATH|auto|none           who cannot open it has no turns; auto: as the driver says\n"
    "Setting of a process (--pid):\n"
    "  weight=N|auto                 1 to 1000000 instead of the weight of its nice; auto: from nice again\n"
    "Setting of a user (--user), of effect with grouping=user:\n"
    "  share=N                       1 to 10000, 100 if nobody says otherwise: what all its processes get together\n"
    "Setting of a cgroup (--cgroup), of effect with grouping=cgroup:\n"
    "  weight=N|auto                 1 to 10000, 100 if nobody says otherwise; auto: what its cpu.weight says now\n"
    "Times are numbers with ns, us, ms or s. All settings are checked before any is applied.\n"
    "\nExamples:\n"
    "  ptsched set slice=20ms idle-sharing=off\n"
    "  ptsched set --pid 4711 weight=2048\n"
    "  ptsched set grouping=user && ptsched set --user alice share=200\n"
    "  ptsched set grouping=cgroup && ptsched set --cgroup /batch.slice weight=20";

/* --module and --broker. */
void add_choice(CLI::App &command, ptsched::Choice &choice)
{
    auto *module = command.add_flag("--module", choice.module, "the module only, not the broker");
    auto *broker = command.add_option("--broker", choice.broker, "the broker at this socket only");
    broker->excludes(module);
    /* Instead of CLI11's remark on what excludes what. */
    module->option_text(" ");
    broker->option_text("PATH");
}

void add_preload(CLI::App &command, std::string &preload)
{
    command.add_option("--preload", preload, "libptsched-preload.so, if not where it is installed")->type_name("PATH");
}

/* An example below the options of --help. */
void add_example(CLI::App &command, const std::string &example)
{
    command.footer("Example:\n  " + example);
}

Action add_run(CLI::App &app)
{
    auto options = std::make_shared<ptsched::RunOptions>();
    CLI::App *command = app.add_subcommand("run", "run a CUDA program under the scheduler");

    command->add_option("--nice", options->nice, "its nice value, -20 (most important) to 19; 0 is usual")
        ->type_name("N");
    command->add_option("--device", options->device, "the only GPU it sees: number, PCI address or UUID")
        ->type_name("D");
    command
        ->add_flag("--group", options->group,
                   "it and what it starts wait for each other, on whatever GPUs, and are to have\n"
                   "their turns together; with all that NAME the same; none: they are not")
        ->option_text("[=NAME]");
    add_preload(*command, options->preload);
    add_choice(*command, options->choice);
    add_example(*command, "ptsched run --nice 10 -- python3 train.py --epochs 3\n"
                          "  ptsched run --group -- torchrun --nproc-per-node 2 train.py\n\n"
                          "Options of ptsched go before the program's name, the program's own after it.\n"
                          "The exit status is the program's; 125 if ptsched fails, 126 if the program cannot\n"
                          "be started, 127 if it is not there.");
    command->prefix_command();
    return [options, command] {
        options->words = command->remaining();
        options->words_after_dashes = words_after_dashes;
        return ptsched::run(*options);
    };
}

Action add_top(CLI::App &app)
{
    auto options = std::make_shared<ptsched::TopOptions>();
    CLI::App *command = app.add_subcommand("top", "who uses the GPUs, refreshed like top(1)");

    add_choice(*command, options->choice);
    command->add_option("--device", options->device, device_help)->type_name("D");
    command->add_option("--interval", options->interval, "time between two looks (1s)")->type_name("TIME");
    command->add_flag("--once", options->once, "plain text about one interval, then end");
    command->add_flag("--accounts", options->accounts, "users and cgroups instead of processes; key a: the others");
    add_example(*command, "ptsched top --once --interval 5s");
    return [options] { return ptsched::top(*options); };
}

Action add_stat(CLI::App &app)
{
    auto options = std::make_shared<ptsched::StatOptions>();
    CLI::App *command = app.add_subcommand("stat", "devices with settings and counters, and who uses them");

    add_choice(*command, options->choice);
    command->add_option("--device", options->device, device_help)->type_name("D");
    auto *json = command->add_flag("--json", options->json, "JSON; its fields are described in ptsched-stat(1)");
    command->add_flag("--accounts", options->accounts, "users and cgroups instead of processes");
    command->add_flag("--openmetrics", options->openmetrics, "as Prometheus reads it")
        ->excludes(json)
        ->option_text(" ");
    command->add_option("-o,--output", options->output, "of --openmetrics: a file, which is replaced as a whole")
        ->type_name("FILE");
    add_example(*command, "ptsched stat --json | jq '.entities[] | {pid, nice, weight}'\n"
                          "  ptsched stat --openmetrics -o /var/lib/prometheus/node-exporter/ptsched.prom");
    return [options] { return ptsched::stat(*options); };
}

Action add_set(CLI::App &app)
{
    auto options = std::make_shared<ptsched::SetOptions>();
    CLI::App *command =
        app.add_subcommand("set", "change settings of devices, or what a process, a user or a cgroup gets");

    add_choice(*command, options->choice);
    command->add_option("--device", options->device, "this device (number, PCI address, UUID) instead of all")
        ->type_name("D");
    command->add_option("--pid", options->pid, "the process whose weight is set")->type_name("P");
    command->add_option("--user", options->user, "the user, by name or number, whose share is set")
        ->type_name("U")
        ->excludes("--pid");
    command->add_option("--cgroup", options->cgroup, "the cgroup whose weight is set: its directory, or its path")
        ->type_name("PATH")
        ->excludes("--pid")
        ->excludes("--user");
    command->add_option("setting", options->settings, "SETTING=VALUE...")->required()->type_name("");
    command->footer(settings_help);
    return [options] { return ptsched::set(*options); };
}

Action add_events(CLI::App &app)
{
    auto options = std::make_shared<ptsched::EventsOptions>();
    CLI::App *command = app.add_subcommand("events", "a line for each attach, grant, call-back, release, ...");

    add_choice(*command, options->choice);
    command->add_option("--device", options->device, device_help)->type_name("D");
    command->add_flag("--json", options->json, "one JSON object for each line");
    command->add_option("--count", options->count, "end after so many events")->type_name("N");
    add_example(*command, "ptsched events --device 0000:17:00.0 --count 100");
    return [options] { return ptsched::events(*options); };
}

Action add_record(CLI::App &app)
{
    auto options = std::make_shared<ptsched::RecordOptions>();
    CLI::App *command = app.add_subcommand("record", "write what the scheduler does as a trace for Perfetto");

    command->add_option("-o,--output", options->output, "the trace (ptsched.pftrace); -: standard output")
        ->type_name("FILE");
    command->add_option("--seconds", options->seconds, "end after so long; else with COMMAND, or at Ctrl-C")
        ->type_name("S");
    add_choice(*command, options->choice);
    add_example(*command, "ptsched record -o train.pftrace -- ptsched run -- python3 train.py\n\n"
                          "https://ui.perfetto.dev opens the file, also while it is written.\n"
                          "The exit status is the program's, if there is one.");
    command->prefix_command();
    return [options, command] {
        options->words = command->remaining();
        options->words_after_dashes = words_after_dashes;
        return ptsched::record(*options);
    };
}

Action add_doctor(CLI::App &app)
{
    auto options = std::make_shared<ptsched::DoctorOptions>();
    CLI::App *command = app.add_subcommand("doctor", "check what scheduling needs here, and say what to do");

    add_choice(*command, options->choice);
    add_preload(*command, options->preload);
    command->add_flag("--json", options->json, "JSON; its fields are described in ptsched-doctor(1)");
    add_example(*command, "ptsched doctor\n\nThe exit status is 0 without problems, 1 otherwise.");
    return [options] { return ptsched::doctor(*options); };
}

Action add_try_levels(CLI::App &app)
{
    app.add_subcommand(ptsched::try_levels_name)->group("");
    return ptsched::try_levels;
}

/* "run [options] -- program args", and so "record": CLI11 would look for options among args. */
int cut_at_dashes(int argc, char **argv)
{
    if (argc < 2 || (std::strcmp(argv[1], "run") != 0 && std::strcmp(argv[1], "record") != 0))
        return argc;
    char **end = argv + argc;
    char **dashes = std::find_if(argv, end, [](const char *word) { return std::strcmp(word, "--") == 0; });
    if (dashes != end)
        words_after_dashes.assign(dashes + 1, end);
    return static_cast<int>(dashes - argv);
}

int usage_error(const CLI::App &app, const CLI::ParseError &error)
{
    if (error.get_exit_code() == 0)
        return app.exit(error);
    std::cerr << "ptsched: " << error.what() << "\n";
    const auto used = app.get_subcommands();
    std::cerr << "Try \"ptsched " << (used.empty() ? "" : used[0]->get_name() + " ") << "--help\".\n";
    return 2;
}

int obey(int argc, char **argv)
{
    CLI::App app("GPU time by nice: run programs under the scheduler and see what it does.", "ptsched");
    std::vector<std::pair<CLI::App *, Action>> commands;

    app.set_version_flag("--version", "ptsched " PTSCHED_VERSION);
    app.require_subcommand(1);
    add_example(app, "ptsched run --nice 10 -- python3 train.py");
    for (auto add : {add_run, add_top, add_stat, add_set, add_events, add_record, add_doctor, add_try_levels}) {
        Action action = add(app);
        commands.emplace_back(app.get_subcommands({}).back(), std::move(action));
    }

    try {
        app.parse(cut_at_dashes(argc, argv), argv);
    } catch (const CLI::ParseError &error) {
        return usage_error(app, error);
    }
    for (const auto &[command, action] : commands)
        if (command->parsed())
            return action();
    return 2;
}

int try_to_obey(int argc, char **argv)
{
    try {
        return obey(argc, argv);
    } catch (const ptsched::Error &error) {
        std::cerr << "ptsched: " << error.what() << "\n";
        return error.status();
    } catch (const std::exception &error) {
        std::cerr << "ptsched: " << error.what() << "\n";
        return 1;
    }
}

} // namespace

int main(int argc, char **argv)
{
    ptsched::occupy_standard_streams();
    return ptsched::close_standard_output("ptsched", try_to_obey(argc, argv));
}
