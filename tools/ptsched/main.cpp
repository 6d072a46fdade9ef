// SPDX-License-Identifier: MIT
/* ptsched: run programs under the scheduler, see what it does, change its settings. */
#include "commands.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <iostream>

namespace ptsched {

std::vector<std::string> words_after_dashes;

void add_choice(CLI::App &command, Choice &choice)
{
    auto *module = command.add_flag("--module", choice.module, "the module only, not the broker");
    auto *broker = command.add_option("--broker", choice.broker, "the broker at this socket only");
    broker->excludes(module);
    /* Instead of CLI11's remark on what excludes what. */
    module->option_text(" ");
    broker->option_text("PATH");
}

void add_example(CLI::App &command, const std::string &example)
{
    command.footer("Example:\n  " + example);
}

} // namespace ptsched

namespace {

/* "run [options] -- program args": CLI11 would look for options among args. */
int cut_at_dashes(int argc, char **argv)
{
    if (argc < 2 || std::strcmp(argv[1], "run") != 0)
        return argc;
    char **end = argv + argc;
    char **dashes = std::find_if(argv, end, [](const char *word) { return std::strcmp(word, "--") == 0; });
    if (dashes != end)
        ptsched::words_after_dashes.assign(dashes + 1, end);
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

int run(int argc, char **argv)
{
    CLI::App app("GPU time by nice: run programs under the scheduler and see what it does.", "ptsched");
    std::vector<std::pair<CLI::App *, ptsched::Action>> commands;

    app.set_version_flag("--version", "ptsched " PTSCHED_VERSION);
    app.require_subcommand(1);
    ptsched::add_example(app, "ptsched run --nice 10 -- python3 train.py");
    for (auto add : {ptsched::add_run, ptsched::add_top, ptsched::add_stat, ptsched::add_set, ptsched::add_events,
                     ptsched::add_doctor, ptsched::add_try_levels}) {
        ptsched::Action action = add(app);
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

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(argc, argv);
    } catch (const ptsched::Error &error) {
        std::cerr << "ptsched: " << error.what() << "\n";
        return error.status();
    } catch (const std::exception &error) {
        std::cerr << "ptsched: " << error.what() << "\n";
        return 1;
    }
}
