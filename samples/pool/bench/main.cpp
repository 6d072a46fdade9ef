// SPDX-License-Identifier: MIT
/* Measures pools on the first GPU, and says what was found beside what the CAGTP paper had. */
#include "samples/pool/bench/bench.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

using namespace ptsched::pool;

namespace {

void measure(const bench::Settings &settings, const std::string &command)
{
    if (ptsched::device::gpus().empty())
        throw Error("there is no GPU, or no driver for it");
    ptsched::device::Device &gpu = *ptsched::device::gpus().front();
    bench::Report report(command);
    std::printf("pools on %s: median (least to most)\n", gpu.name().c_str());
    const double launch_ns = bench::measure_launches(gpu, settings, report);
    bench::measure_dispatch(gpu, settings, launch_ns, report);
    bench::measure_round_trips(gpu, settings, report);
    bench::measure_idle_bus(gpu, settings, report);
    if (!settings.json.empty())
        report.write_json(settings.json);
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app("Measures pools of tasks on the first GPU.");
    bench::Settings settings;
    settings.module = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "pool.fatbin";
    app.add_option("--module", settings.module, "kernels.cu as nvcc -fatbin has compiled it")->capture_default_str();
    app.add_option("--json", settings.json, "a file for the records");
    app.add_flag("--quick", settings.quick, "fewer and smaller rounds");
    CLI11_PARSE(app, argc, argv);
    try {
        measure(settings, settings.quick ? "bench-pool --quick" : "bench-pool");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench-pool: %s\n", error.what());
        return 1;
    }
    return 0;
}
