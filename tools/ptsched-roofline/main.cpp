// SPDX-License-Identifier: MIT
/* What the model knows of this machine, measured and shown. */
#include "tools/ptsched-roofline/network.hpp"
#include "tools/ptsched-roofline/show.hpp"
#include "tools/standard_streams.hpp"
#include <ptsched/spmd/roofline.hpp>

#include <CLI/CLI.hpp>
#include <fstream>

namespace roofline {
namespace {

struct Options {
    std::string file, plot;
    bool network = false, json = false, refresh = false, no_gpus = false, single = false, resident = false,
         streamed = false;
    std::optional<double> both, cpu, gpu;
};

model::Machine machine_of(const Options &options, const std::function<double()> &network)
{
    if (options.file.empty())
        return model::machine({.gpus = !options.no_gpus, .network = network}, options.refresh);
    std::ifstream stream(options.file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream)
        throw ptsched::Error("cannot read " + options.file);
    return model::machine_from_json(text);
}

std::optional<Job> job_of(const Options &options)
{
    if (!options.both && !options.cpu && !options.gpu)
        return std::nullopt;
    return Job{{.cpu = options.cpu ? options.cpu : options.both,
                .gpu = options.gpu ? options.gpu : options.both,
                .precision = options.single ? model::Precision::fp32 : model::Precision::fp64},
               {.input = options.resident ? model::Where::gpu : model::Where::host,
                .path = options.streamed ? model::Path::streamed : model::Path::staged}};
}

void draw(const std::string &script)
{
    FILE *const gnuplot = popen("gnuplot", "w");
    if (!gnuplot)
        throw ptsched::Error("gnuplot cannot be started, so there is no plot");
    std::fputs(script.c_str(), gnuplot);
    const int status = pclose(gnuplot);
    if (status)
        throw ptsched::Error(WIFEXITED(status) && WEXITSTATUS(status) == 127
                                 ? "gnuplot is not installed, so there is no plot"
                                 : "gnuplot has failed, so there is no plot");
}

int run(const Options &options)
{
    Network network;
    const auto measure = [&] {
        network = measure_network();
        return network.rate;
    };
    const model::Machine machine = machine_of(options, options.network ? measure : std::function<double()>());
    /* The first of MPI's processes speaks for all. */
    if (network.rank > 0)
        return 0;
    const std::optional<Job> job = job_of(options);
    std::cout << (options.json ? model::to_json(machine) + "\n" : text_of(machine, job));
    if (!options.plot.empty())
        draw(plot_of(machine, job, options.plot));
    return 0;
}

} // namespace
} // namespace roofline

int main(int argc, char **argv)
{
    ptsched::occupy_standard_streams();
    roofline::Options options;
    CLI::App app("Measures what this machine's processors, memories and buses do, keeps it, and shows the rooflines.");
    const auto number = CLI::Range(0.0, 1e12);
    app.set_version_flag("--version", "ptsched-roofline " PTSCHED_VERSION);
    app.add_flag("--json", options.json, "print what was measured as JSON");
    app.add_flag("--refresh", options.refresh, "measure again, even if it is known");
    app.add_flag("--no-gpus", options.no_gpus, "the CPU alone");
    auto *const network =
        app.add_flag("--network", options.network,
                     "measure the network, too, and keep it: of processes that mpirun -n N --bind-to none has started");
    app.add_option("--file", options.file, "show this machine, which --json has printed")
        ->check(CLI::ExistingFile)
        ->excludes(network);
    app.add_option("--plot", options.plot, "draw the rooflines to this file, .svg, .png or .pdf (needs gnuplot)");
    app.add_option("--intensity", options.both, "of a job, flop/byte: say who gets which part, and draw it")
        ->check(number);
    app.add_option("--cpu-intensity", options.cpu, "the same, of its functions for the CPU")->check(number);
    app.add_option("--gpu-intensity", options.gpu, "the same, of its functions for GPUs")->check(number);
    app.add_flag("--single", options.single, "the job computes in single precision");
    app.add_flag("--resident", options.resident, "its input is in the GPUs' memory");
    app.add_flag("--streamed", options.streamed, "blocks go through memory and bus in pieces, at the same time");
    CLI11_PARSE(app, argc, argv);
    try {
        return ptsched::close_standard_output("ptsched-roofline", roofline::run(options));
    } catch (const std::exception &error) {
        std::cerr << "ptsched-roofline: " << error.what() << "\n";
        return 1;
    }
}
