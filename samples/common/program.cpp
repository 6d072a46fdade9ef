// SPDX-License-Identifier: MIT
#include "samples/common/program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace ptsched::samples {

namespace {

void add_choice(CLI::App &app, const Choice &choice)
{
    if (choice.text) {
        app.add_option(choice.name, *choice.text, choice.what);
        return;
    }
    if (choice.flag) {
        app.add_flag(choice.name, *choice.flag, choice.what);
        return;
    }
    if (choice.words.empty()) {
        app.add_option(choice.name, *choice.value, choice.what)->capture_default_str();
        return;
    }
    const std::vector<std::string> &words = choice.words;
    unsigned *const value = choice.value;
    app.add_option_function<std::string>(
           choice.name,
           [words, value](const std::string &word) {
               *value = static_cast<unsigned>(std::find(words.begin(), words.end(), word) - words.begin());
           },
           choice.what)
        ->check(CLI::IsMember(words))
        ->default_str(words.at(*value));
}

} // namespace

int run_program(int argc, char **argv, const std::string &name, const std::string &what,
                const std::function<void(const Settings &, Report &)> &run, const std::vector<Choice> &choices)
{
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    Settings settings;
    settings.module = self.string() + ".fatbin";
    if (const std::string hand = self.string() + "-hand.so"; std::filesystem::exists(hand))
        settings.hand = hand;

    CLI::App app(what);
    app.add_option("--module", settings.module, "kernels.cu as nvcc -fatbin, or vgpu-cc, has compiled it")
        ->capture_default_str();
    app.add_option("--hand", settings.hand, "a library with what needs the toolkit: the same by hand, or cuBLAS")
        ->capture_default_str();
    app.add_option("--json", settings.json, "a file to which records are added");
    app.add_flag("--quick", settings.quick, "fewer rounds");
    app.add_option("--rounds", settings.wanted_rounds, "how often all is measured, in turn; 5, or 3 with --quick")
        ->check(CLI::PositiveNumber);
    app.add_flag("--check", settings.check, "the smallest sizes, and whether results are right; measures nothing");
    for (const Choice &choice : choices)
        add_choice(app, choice);
    CLI11_PARSE(app, argc, argv);
    try {
        std::string command = self.filename().string() + (settings.quick ? " --quick" : "");
        if (settings.wanted_rounds)
            command += " --rounds " + std::to_string(settings.wanted_rounds);
        Report report(command, name.substr(0, name.find('-')));
        run(settings, report);
        if (!settings.json.empty())
            report.write_json(settings.json);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return 1;
    }
    return 0;
}

device::Device &first_gpu()
{
    if (device::gpus().empty())
        throw device::Error("there is no GPU, or no driver for it");
    return *device::gpus().front();
}

} // namespace ptsched::samples
