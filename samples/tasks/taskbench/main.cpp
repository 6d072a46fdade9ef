// SPDX-License-Identifier: MIT
/* Task Bench's patterns and metric, for tasks of the host and of a GPU. */
#include "samples/common/report.hpp"
#include "samples/tasks/taskbench/metg.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <thread>

using namespace ptsched;
using namespace ptsched::taskbench;

namespace {

struct Settings {
    std::string module, hand, json;
    std::vector<std::string> only;
    unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    unsigned gpu_width = 4;
    bool quick = false, check = false;

    bool wants(const std::string &what) const
    {
        return only.empty() || std::find(only.begin(), only.end(), what) != only.end();
    }
    Effort on_host() const { return quick ? Effort{3, 0.01, 10000} : Effort{5, 0.05, 100000}; }
    /* A graph of all steps is made for each number of iterations. */
    Effort on_gpu() const { return quick ? Effort{3, 0.003, 1000} : Effort{5, 0.01, 2000}; }
};

using Runners = std::vector<std::pair<std::string, RunnerPtr>>;

device::Device &first_gpu()
{
    if (device::gpus().empty())
        throw Error("there is no GPU, or no driver for it: --only host does without");
    return *device::gpus().front();
}

/* Who is slow is so by the same measure as the others. */
void measure(const std::string &name, Pattern pattern, unsigned width, const Runners &runners, const Effort &effort,
             samples::Report &report)
{
    const Grid grid{pattern, width, 0};
    double peak = 0;
    for (const auto &[who, runner] : runners)
        peak = std::max(peak, peak_rate(*runner, grid, effort));
    for (const auto &[who, runner] : runners) {
        const Metg metg = find_metg(*runner, grid, peak, effort);
        report.record(name + (who.empty() ? "" : "/" + who) + "_us", {metg.median_us, metg.least_us, metg.most_us},
                      "us", to_string(pattern) + (", " + std::to_string(width)) + " wide");
    }
}

void measure_host(const Settings &settings, samples::Report &report)
{
    Runners runners;
    runners.emplace_back("", library_on_host(settings.threads));
    runners.emplace_back("openmp", openmp(settings.threads));
    for (const Pattern pattern : all_patterns) {
        const std::string name = to_string(pattern);
        measure(pattern == Pattern::stencil ? "metg-host" : "metg-host/" + name, pattern, settings.threads, runners,
                settings.on_host(), report);
    }
}

void measure_gpu(const Settings &settings, samples::Report &report)
{
    device::Device &gpu = first_gpu();
    for (const Pattern pattern : all_patterns) {
        Runners runners;
        runners.emplace_back("", library_on_gpu(gpu, settings.module, settings.gpu_width));
        if (pattern == Pattern::stencil && !settings.hand.empty())
            for (auto &one : by_hand_on_gpu(settings.hand, settings.gpu_width))
                runners.push_back(std::move(one));
        measure(pattern == Pattern::stencil ? "metg" : "metg/" + std::string(to_string(pattern)), pattern,
                settings.gpu_width, runners, settings.on_gpu(), report);
    }
    for (const unsigned width : {1U, 2U, 4U, 8U, 16U}) {
        Runners runners;
        runners.emplace_back("", library_on_gpu(gpu, settings.module, width));
        if (!settings.hand.empty())
            for (auto &one : by_hand_on_gpu(settings.hand, width))
                runners.push_back(std::move(one));
        measure("metg/width/" + std::to_string(width), Pattern::stencil, width, runners, settings.on_gpu(), report);
    }
}

/* Each runner checks what its tasks have read and written. */
void check(const Runners &runners, const Settings &settings)
{
    constexpr unsigned steps = 7;
    for (const auto &[who, runner] : runners)
        for (const Pattern pattern : all_patterns)
            for (const unsigned width : {1U, 2U, 5U, 8U}) {
                if (!settings.wants(who))
                    continue;
                const Grid grid{pattern, width, steps};
                runner->prepare(grid, 1);
                runner->run(grid, 1);
                runner->check(grid);
            }
}

void check_all(const Settings &settings)
{
    Runners runners;
    runners.emplace_back("host", library_on_host(settings.threads));
    runners.emplace_back("openmp", openmp(settings.threads));
    if (settings.wants("gpu"))
        runners.emplace_back("gpu", library_on_gpu(first_gpu(), settings.module, settings.gpu_width));
    check(runners, settings);
}

void run(const Settings &settings, samples::Report &report)
{
    if (settings.check) {
        check_all(settings);
        return;
    }
    std::printf("METG(50 %%): median (least to most)\n");
    if (settings.wants("host"))
        measure_host(settings, report);
    if (settings.wants("gpu"))
        measure_gpu(settings, report);
}

} // namespace

int main(int argc, char **argv)
{
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
    Settings settings;
    settings.module = self.string() + ".fatbin";
    if (const std::string hand = self.string() + "-hand.so"; std::filesystem::exists(hand))
        settings.hand = hand;
    CLI::App app("Measures the least granularity of tasks that is efficient, in Task Bench's patterns.");
    app.add_option("--module", settings.module, "kernels.cu as nvcc -fatbin, or vgpu-cc, has compiled it")
        ->capture_default_str();
    app.add_option("--hand", settings.hand, "a library with a stencil by hand, to compare with")->capture_default_str();
    app.add_option("--json", settings.json, "a file to which records are added");
    app.add_option("--only", settings.only, "host or gpu");
    app.add_option("--threads", settings.threads, "of the host; as many as processors")->capture_default_str();
    app.add_option("--gpu-width", settings.gpu_width, "tasks of a step on a GPU, which has as many streams")
        ->check(CLI::Range(1, 32))
        ->capture_default_str();
    app.add_flag("--quick", settings.quick, "fewer and shorter runs");
    app.add_flag("--check", settings.check, "all patterns, small, and whether results are right; measures nothing");
    CLI11_PARSE(app, argc, argv);
    try {
        samples::Report report(self.filename().string() + (settings.quick ? " --quick" : ""), "tasks");
        run(settings, report);
        if (!settings.json.empty())
            report.write_json(settings.json);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "tasks-taskbench: %s\n", error.what());
        return 1;
    }
    return 0;
}
