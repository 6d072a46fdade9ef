/* SPDX-License-Identifier: MIT */
/*
 * The parameters of the model, measured on this machine and kept for later.
 *
 *	const model::Machine here = model::machine();
 *	const double p = model::share(here, {.cpu = 2, .gpu = 2}).cpu;
 */
#ifndef PTSCHED_SPMD_ROOFLINE_HPP
#define PTSCHED_SPMD_ROOFLINE_HPP

#include <ptsched/device/device.hpp>
#include <ptsched/spmd/model.hpp>

#include <filesystem>

#pragma GCC visibility push(default)

namespace ptsched::spmd::model {

struct MeasureOptions {
    bool gpus = true;
    bool attach = true; /* GPUs are measured in turns of ptsched, where there is a scheduler */
    /* Of each buffer, bytes; zero: so many that caches do not matter, a quarter of what is free at most. */
    std::size_t bytes = 0;
    /*
     * Measures what a node sends to another, bytes per second, as mpi::network_rate() does; called once, even if all
     * else is known, since other nodes take part. Empty: that is not known.
     */
    std::function<double()> network = {};
};

/*
 * Bandwidths are those of reading by all processors that the process may use, of copies from and to pinned memory, and
 * of copies in a GPU's memory, what is read and written; peaks are those of multiplying and adding. The best of several
 * runs each: other work makes them lower. Takes about a second, and longer for each GPU. What cannot be measured, as
 * peaks of a GPU whose driver does not compile, is zero. Blocks; one thread at a time. Throws Error if a device fails.
 */
Machine measure(const MeasureOptions &options = {});
Cpu measure_cpu(std::size_t bytes = 0);
Gpu measure_gpu(device::Device &gpu, std::size_t bytes = 0, bool attach = true);

/*
 * Where it is kept: in $XDG_CACHE_HOME/ptsched, or ~/.cache/ptsched, a file for each kind of machine: model of CPU,
 * processors that the process may use, GPUs and their driver. Empty if there is no such folder.
 */
std::filesystem::path machine_file(bool gpus = true);

/*
 * What was kept; else, or if @refresh, what measure() says, which is then kept. A file that cannot be read or written
 * is as none. Processes of one host measure one after another: the others have what the first one has kept, for which
 * they wait a minute at most. What is known of the network stays, unless @options say how to measure it.
 */
Machine machine(const MeasureOptions &options = {}, bool refresh = false);

/* As JSON text; the other way, it throws Error that says what is wrong with it. */
std::string to_json(const Machine &machine);
Machine machine_from_json(const std::string &text);

} // namespace ptsched::spmd::model

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_ROOFLINE_HPP */
