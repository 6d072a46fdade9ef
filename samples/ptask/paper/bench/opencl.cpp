// SPDX-License-Identifier: MIT
/* The paper's programs as graphs on the devices of OpenCL, small: whether their results are right. */
#include "samples/ptask/paper/bench/bench.hpp"
#include "samples/ptask/paper/gestures.hpp"
#include "samples/ptask/paper/programs.hpp"

#include <chrono>
#include <cstdio>
#include <memory>

namespace ptsched::paper {

namespace {

struct Small {
    std::string name;
    std::function<Workload()> make;
};

std::vector<Small> all_small()
{
    std::vector<Small> all{{"chain64", [] { return chain(64, false); }},
                           {"table5/sort", [] { return bitonic_sort(8); }}};
    for (Matrices kind : {Matrices::multiply, Matrices::add, Matrices::copy}) {
        all.push_back({"table5/" + name_of(kind) + "-tree", [=] { return tree(kind, 4, 64); }});
        all.push_back({"table5/" + name_of(kind) + "-rect", [=] { return rectangle(kind, 4, 5, 64); }});
    }
    all.push_back({"table5/fdtd", [] { return cavity(5, 32, 32, 4); }});
    all.push_back({"table5/pca", [] { return components(64, 10); }});
    all.push_back({"table5/grpby", [] { return group_by(1 << 16, 128); }});
    all.push_back({"gesture", [] { return gestures(Scene(160, 120)); }});
    return all;
}

/* Twice, since the first run of a kernel compiles it. */
void run_small(const Options &options, const Small &small)
{
    say_progress(small.name);
    Checked checked(small.make());
    auto executor = make_ptask(options.module, checked.workload());
    double seconds = 0;
    for (int i = 0; i < 2; i++) {
        executor->prepare(1);
        const auto start = std::chrono::steady_clock::now();
        executor->run(1);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        checked.check(*executor, "ptask");
    }
    std::printf("%-18s %-20s %6zu %10.3f   ok\n", small.name.c_str(), checked.workload().name.c_str(),
                checked.workload().steps.size(), seconds * 1e3);
    std::fflush(stdout);
}

void refuse_what_does_not_fit(const Options &options)
{
    if (options.size || options.iterations || options.quick || !options.json.empty() || !options.events.empty())
        throw Error("--opencl goes with --only and --module, and no other option: its sizes are its own");
    if (!options.module.ends_with(".cl"))
        throw Error("--opencl needs kernels in OpenCL C, in a file whose name ends in .cl, not " + options.module);
    if (device::opencl_devices().empty())
        throw Error("there is no device of OpenCL; pocl-opencl-icd makes one of the processor");
}

} // namespace

void run_on_opencl(const Options &options, Report &report)
{
    bool any = false;
    refuse_what_does_not_fit(options);

    std::printf("The PTask paper's programs as graphs, small, with OpenCL on:\n");
    for (const device::Device *device : device::opencl_devices())
        std::printf("  %s\n", device->name().c_str());
    std::printf("%-18s %-20s %6s %10s\n", "", "", "ptasks", "ms");
    for (const Small &small : all_small()) {
        if (!options.wants(small.name))
            continue;
        any = true;
        try {
            run_small(options, small);
        } catch (const Error &error) {
            report.fail(small.name + ": " + error.what());
        }
    }
    if (!any)
        throw Error("nothing was run: no program has a name that begins with what --only says");
}

} // namespace ptsched::paper
