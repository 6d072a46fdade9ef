// SPDX-License-Identifier: MIT
/* bench-ptask: the PTask paper's programs on a GPU, by hand, as modules, and as graphs. */
#include "samples/ptask/example.hpp"
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/number.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <getopt.h>

using namespace ptsched::paper;

namespace {

struct Benchmark {
    const char *name, *description;
    void (*run)(const Bench &bench);
};

const Benchmark benchmarks[] = {
    {"chain", "A x B x C with n = 64 and 1024, without and with copies (--only chain64)", chains},
    {"table5", "sort, gemm, madd, mcopy, fdtd, pca, grpby (--only table5/gemm)", table5},
    {"gesture", "the gestural interface", gesture_rates},
    {"copies", "the gestural interface's transformation, with copies of several kinds", copy_modes},
    {"prio", "four graphs with priorities", priorities},
    {"invocation", "a ptask that does nothing, in graphs of 10 and 10,000", invocations},
    {"gpus", "products in 8 and 16 columns, on one GPU, on two, and so on", several_gpus},
};

[[noreturn]] void usage(int status)
{
    std::fprintf(
        status ? stderr : stdout,
        "usage: bench-ptask [OPTION]...\n"
        "Runs the PTask paper's programs on a GPU in the variants handcode, best, modular, modular-threads and\n"
        "ptask, the gestural interface also on the host and as processes joined by pipes, compares their results\n"
        "with the host's, and prints the paper's figures beside the measured.\n\n"
        "  --only NAME      only benchmarks whose names begin so; may be given several times\n"
        "  --size N         matrices of N x N instead of the paper's, pictures N pixels wide\n"
        "  --iterations N   repetitions of each measurement, instead of as many as fit the time\n"
        "  --quick          fewer sizes and a third of the time: about 40 s instead of 150\n"
        "  --json FILE      writes the figures to FILE\n"
        "  --events FILE    keeps in FILE where the gestural interface finds the hand, a line for each frame of each\n"
        "                   variant; some find it in several frames at once and tell it in any order\n"
        "  --module FILE    the kernels, made by nvcc (default: paper.fatbin beside the program)\n"
        "  --opencl         no measurement, and no GPU needed: each program once, small, as a graph on the devices of\n"
        "                   OpenCL (PoCL makes one of the processor), results checked; with --module, kernels in\n"
        "                   OpenCL C (default: paper.cl beside the program)\n"
        "  --list           the benchmarks' names\n"
        "  --help           this text\n");
    std::exit(example::finish(status));
}

void list()
{
    for (const Benchmark &benchmark : benchmarks)
        std::printf("%-12s %s\n", benchmark.name, benchmark.description);
}

unsigned number(const char *option, const char *text)
{
    if (auto value = number_of(text, 1, 4096))
        return *value;
    std::fprintf(stderr, "bench-ptask: --%s needs a number from 1 to 4096, not \"%s\"\n", option, text);
    std::exit(2);
}

struct CommandLine {
    Options options;
    bool opencl = false, host_cost = false, lowered_cost = false, graph_times = false;
    std::string text;
};

enum Known {
    only = 1,
    size,
    iterations,
    quick,
    json,
    events,
    module,
    opencl,
    list_names,
    host_cost,
    lowered_cost,
    graph_times,
    help
};
const option known[] = {
    {"only", required_argument, nullptr, only},
    {"size", required_argument, nullptr, size},
    {"iterations", required_argument, nullptr, iterations},
    {"quick", no_argument, nullptr, quick},
    {"json", required_argument, nullptr, json},
    {"events", required_argument, nullptr, events},
    {"module", required_argument, nullptr, module},
    {"opencl", no_argument, nullptr, opencl},
    {"list", no_argument, nullptr, list_names},
    {"host-cost", no_argument, nullptr, host_cost},
    {"lowered-cost", no_argument, nullptr, lowered_cost},
    {"graph-times", no_argument, nullptr, graph_times},
    {"help", no_argument, nullptr, help},
    {},
};

CommandLine parse(int argc, char **argv)
{
    CommandLine line;
    Options &options = line.options;

    line.text = "bench-ptask";
    for (int i = 1; i < argc; i++)
        line.text += std::string(" ") + argv[i];
    for (int which; (which = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (which) {
        case only:
            options.only.push_back(optarg);
            break;
        case size:
            options.size = number("size", optarg);
            break;
        case iterations:
            options.iterations = number("iterations", optarg);
            break;
        case quick:
            options.quick = true;
            break;
        case json:
            options.json = optarg;
            break;
        case events:
            options.events = optarg;
            break;
        case module:
            options.module = optarg;
            break;
        case opencl:
            line.opencl = true;
            break;
        case host_cost:
            line.host_cost = true;
            break;
        case lowered_cost:
            line.lowered_cost = true;
            break;
        case graph_times:
            line.graph_times = true;
            break;
        case list_names:
            list();
            std::exit(example::finish(0));
        case help:
            usage(0);
        default:
            usage(2);
        }
    }
    if (optind < argc) {
        std::fprintf(stderr, "bench-ptask: what is \"%s\"? See bench-ptask --help\n", argv[optind]);
        std::exit(2);
    }
    if (options.module.empty())
        options.module = line.opencl ? std::string(program_folder() / "paper.cl") : default_module();
    return line;
}

void refuse_unknown(const Options &options)
{
    for (const std::string &name : options.only) {
        bool known = false;
        for (const Benchmark &benchmark : benchmarks)
            known = known || name.rfind(benchmark.name, 0) == 0;
        if (!known)
            throw Error("there is no benchmark \"" + name + "\"; bench-ptask --list says which there are");
    }
}

int run(const CommandLine &line)
{
    const Options &options = line.options;
    if (line.host_cost || line.lowered_cost) {
        print_host_cost(options, line.lowered_cost);
        return 0;
    }
    refuse_unknown(options);
    if (line.opencl && !std::filesystem::exists(options.module))
        throw Error("there is no " + options.module + ": make build/samples/paper.cl makes it");
    Report report(line.text);
    if (line.opencl) {
        run_on_opencl(options, report);
        return report.failed() ? 1 : 0;
    }
    Gpu gpu(options.module);
    Bench bench{gpu, options, report};
    if (line.graph_times) {
        print_graph_times(bench);
        return 0;
    }
    std::printf("The PTask paper's programs on %s\n", gpu.name().c_str());
    for (const Benchmark &benchmark : benchmarks)
        benchmark.run(bench);
    if (report.empty() && !report.failed())
        throw Error("nothing was measured: no program has a name that begins with what --only says");
    if (!options.json.empty())
        report.write_json(options.json);
    return report.failed() ? 1 : 0;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return example::finish(run(parse(argc, argv)));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "bench-ptask: %s\n", error.what());
        return 1;
    }
}
