// SPDX-License-Identifier: MIT
#include "tests/bench/tasks/measure.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <thread>

using namespace ptsched;
using namespace ptsched::bench_tasks;

bool Settings::wants(const std::string &what) const
{
    return only.empty() || std::find(only.begin(), only.end(), what) != only.end();
}

namespace {

struct {
    const char *name;
    void (*measure)(const Settings &settings, samples::Report &report);
} const all[] = {{"host", measure_host}, {"cuda", measure_cuda}, {"helper-wait", measure_helper}};

} // namespace

int main(int argc, char **argv)
{
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    Settings settings;
    settings.module = self.string() + ".fatbin";
    settings.threads = std::max(1U, std::thread::hardware_concurrency());

    CLI::App app("Measures what it costs to make tasks and to run them, on the host and on the first GPU.");
    app.add_option("--module", settings.module, "kernels.cu as nvcc -fatbin, or vgpu-cc, has compiled it")
        ->capture_default_str();
    app.add_option("--json", settings.json, "a file to which records are added");
    app.add_option("--only", settings.only, "host, cuda or helper-wait");
    app.add_option("--threads", settings.threads, "of the host; as many as processors")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("--quick", settings.quick, "fewer tasks and rounds");
    app.add_flag("--check", settings.check, "a few tasks, to see that results are right; what it measures is nothing");
    CLI11_PARSE(app, argc, argv);
    try {
        samples::Report report(self.filename().string() + (settings.quick ? " --quick" : ""), "tasks");
        for (const auto &[name, measure] : all)
            if (settings.wants(name))
                measure(settings, report);
        if (!settings.json.empty() && !settings.check)
            report.write_json(settings.json);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench-tasks: %s\n", error.what());
        return 1;
    }
    return 0;
}
