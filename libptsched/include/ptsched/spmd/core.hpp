/* SPDX-License-Identifier: MIT */
/* Jobs and who runs them, without the types of keys and values. Users: the templates of <ptsched/spmd.hpp>. */
#ifndef PTSCHED_SPMD_CORE_HPP
#define PTSCHED_SPMD_CORE_HPP

#include <ptsched/base/error.hpp>
#include <ptsched/spmd/input.hpp>
#include <ptsched/spmd/model.hpp>
#include <ptsched/spmd/program.hpp>
#include <ptsched/spmd/report.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

using ptsched::Error;

/* CPU and GPUs of a node get fixed parts of each partition: @p for the CPU, or what the model says. */
struct Static {
    std::optional<double> p = {}; /* between 0 and 1 */
};
/* Who is idle gets the next block. */
struct Dynamic {};
using Split = std::variant<Dynamic, Static>;

/*
 * Operations for each byte of input, with which the model makes a static split, or: a small part of the job is run
 * first on all devices, and their rates say it.
 */
struct Probe {};
using Intensity = std::variant<Probe, model::Intensity>;

/* Where results go. */
struct Output {
    /* The whole result to each rank, to rank 0, or of each rank what it has reduced. */
    enum class Where : std::uint8_t { everywhere, root, each };
    Where where = Where::everywhere;
    /*
     * Not empty: to a file, by their keys, which has this name when it is whole; until then what was there stays. For
     * Where::each a file of each rank, with ".RANK-of-RANKS" behind the name, else one that rank 0 writes.
     */
    std::string path = {};
    /*
     * Not 0: values, each of so many bytes, go to memory of rank 0, @into, which may be empty on others: that of key n
     * to the n-th place there. The result has no pairs. For Where::root, and jobs of maps alone whose keys are integers
     * of 8 bytes, each once. A GPU copies straight to memory that is page-locked. An error may leave some values there.
     */
    std::size_t value_bytes = 0;
    std::span<std::byte> into = {};
};

/* A job without types. */
struct Work {
    Program program = {};
    Input input = {};
    Intensity intensity = Probe{};
    model::IntensityOf intensity_of = {};
    Split split = Dynamic{};
    Output output = {};
    /* A pair as a file is to have it, appended to @to. */
    std::function<void(std::string_view key, std::string_view value, std::string &to)> format = {};
    bool ordered = false;
    std::uint64_t block_bytes = 0;
    std::uint64_t partitions = 0;
};

/* What all jobs of a cluster have in common. */
struct Options {
    /* Ranks of this process, each with its own threads: 1 but for tests, and machines of several NUMA nodes. */
    unsigned ranks = 1;
    /* Of each rank, for maps, sorting and reducing; 0: the processors that it may use, divided among the ranks. */
    unsigned threads = 0;
    std::vector<unsigned> gpus = {}; /* of each rank, by their numbers; empty: all, divided among the host's ranks */
    bool use_gpus = true;
    bool attach = true;      /* GPUs are used in turns of ptsched, where there is a scheduler */
    std::size_t memory = 0;  /* bytes of pairs of each rank that stay in memory; 0: an eighth of what is available */
    std::string folder = {}; /* of files for what does not; empty: $TMPDIR, else /tmp */
    /* A rank of which nothing is heard for so long has failed. */
    std::chrono::milliseconds patience = std::chrono::seconds(60);
    /*
     * What the model knows of each rank: its cores, and its GPUs in their order. None: when a job first says its
     * intensity, a rank takes its part of model::machine(), which is kept in the user's cache or else measured, once
     * for each host, in a second or a few; @patience is to be longer. Where that cannot be had, the job is divided as
     * one that does not say it. Of a machine that is given, what is missing is an Error.
     */
    std::optional<model::Machine> machine = {};
    /* Called on rank 0 by the thread that runs the job, about twice a second. */
    std::function<void(const Progress &)> progress = {};
    std::string timeline = {}; /* a file for Perfetto, written after each run, with ".RANK" where there are several */
};

/* What a run has come to. */
struct Outcome {
    std::vector<Pairs> parts; /* one of each rank of this process */
    Report report;
};

class Link;

/* Ranks that run jobs. One thread at a time, the same on each rank; all ranks make the same calls. */
class Core {
public:
    explicit Core(Options options);
    /* Of one rank of this process; how it reaches others is @link, which is its alone. */
    Core(Options options, std::unique_ptr<Link> link);
    ~Core();
    Core(Core &&) noexcept;
    Core &operator=(Core &&) noexcept;

    unsigned rank() const;
    unsigned ranks() const;
    /*
     * Blocks until all of it is done. Throws Error, on all ranks the same, if a function of the job has thrown, if
     * there is no device for the job, no room for its pairs or its result, or if a rank has failed that cannot be done
     * without.
     */
    Outcome run(const Work &work, std::span<const std::byte> parameters = {});

    /* A job that is run several times: its input stays where it was used, its parameters are new each time. */
    class Kept;
    std::shared_ptr<Kept> keep(Work work);
    Outcome run(Kept &kept, std::span<const std::byte> parameters);
    /* Its input has other bytes than in the last run, which the next one brings to devices again. */
    void renew(Kept &kept);

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_CORE_HPP */
