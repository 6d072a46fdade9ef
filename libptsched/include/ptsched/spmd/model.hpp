/* SPDX-License-Identifier: MIT */
/*
 * Who gets how much: the roofline says how fast a job goes on a CPU and on GPUs, and so which part of its input each
 * of them is to have. After PRS (H. Li, G. Fox, G. von Laszewski, A. Chauhan, "Co-processing SPMD computation on CPUs
 * and GPUs cluster", CLUSTER 2013); its equations are named by their numbers. Documentation/spmd-model.rst has them,
 * what is misprinted there, and what is added here.
 *
 * Rates are bytes of input per second, bandwidths bytes per second, peaks floating-point operations per second, times
 * seconds. Nothing here has a state, blocks or has threads; all of it may be called by any thread.
 */
#ifndef PTSCHED_SPMD_MODEL_HPP
#define PTSCHED_SPMD_MODEL_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::spmd::model {

enum class Precision { fp32, fp64 };

struct Peak {
    double fp32 = 0;
    double fp64 = 0;

    double at(Precision precision) const { return precision == Precision::fp32 ? fp32 : fp64; }
};

/* All cores that are to work together. */
struct Cpu {
    std::string name;
    unsigned cores = 0;
    Peak peak;       /* Pc, of all cores */
    double dram = 0; /* B_dram, of all cores */
    /* What it costs to give all cores a part, besides its bytes: they are woken and waited for. Zero: not counted. */
    double latency = 0;
};

struct Gpu {
    std::string name;
    Peak peak;          /* Pg */
    double dram = 0;    /* of its own memory */
    double to_gpu = 0;  /* B_pcie, from pinned memory of the host */
    double to_host = 0; /* the other way */
    double latency =
        2e-5; /* what a block costs besides its bytes: a copy and a kernel are started, their end is seen */
    std::uint64_t memory = 0; /* bytes; zero: not known */
};

/* One node. Of a bandwidth that is zero nothing is known, and it limits nothing. */
struct Machine {
    std::string name;
    Cpu cpu;
    std::vector<Gpu> gpus;
    double network = 0; /* of one node, in one direction */
    double disk = 0;
};

/*
 * Operations for each byte of input: Ac and Ag. None: the job has no function for that kind of device. Zero: it does
 * nothing but read.
 */
struct Intensity {
    std::optional<double> cpu, gpu;
    Precision precision = Precision::fp64;
};

/* Where the input is at first. In a GPU: each device has its own part with it, as in iterative jobs. */
enum class Where { host, gpu };
/* How a block goes through several memories: through one after the other, as (7) has it, or through all at once. */
enum class Path { staged, streamed };

struct Conditions {
    Where input = Where::host;
    Path path = Path::staged;
    /* Of a disk or network from which all of the input comes first; zero: there is none. */
    double source = 0;
    /* Bytes that come back from a GPU and bytes that go to other nodes, for each byte of input. */
    double home = 0;
    double sent = 0;
    /*
     * How often a byte that goes to a GPU passes the host's memory, whose bandwidth the CPU then does not have: once if
     * it is in pinned memory, three times if it is copied there first. Zero: that is not counted, as in the paper.
     */
    double host_traffic = 0;
};

/* The point of a machine's roofline from which on its peak is the limit: Acr, Agr; operations per byte. */
double ridge(const Cpu &cpu, Precision precision);
double ridge(const Machine &machine, const Gpu &gpu, Precision precision, const Conditions &conditions = {});

/* What is slower than the peak: bytes of input that come to where they are computed with. */
double bandwidth(const Cpu &cpu, const Conditions &conditions = {});
double bandwidth(const Machine &machine, const Gpu &gpu, const Conditions &conditions = {});

/* Fc and Fg by (6) and (7): flop/s of a job with that intensity. Throws Error if what it depends on is not known. */
double flops(const Cpu &cpu, double intensity, Precision precision, const Conditions &conditions = {});
double flops(const Machine &machine, const Gpu &gpu, double intensity, Precision precision,
             const Conditions &conditions = {});

/* Parts of the input, whose sum is one, and what comes of them. */
struct Share {
    double cpu = 1;           /* p */
    std::vector<double> gpus; /* of each; their sum is 1 - p */
    /* What each would do alone, bytes of input per second; zero where the job has no function for it. */
    double cpu_rate = 0;
    std::vector<double> gpu_rates;
    /* What all do together: a node's rate. */
    double rate = 0;

    /* Tgc (1), seconds for @bytes. */
    double seconds(double bytes) const { return bytes / rate; }
};

/*
 * By (5) to (8), (8) as (7) has it: its printed form multiplies where (7) divides. Each device has its part done at the
 * same time as the others: p = (Fc / Ac) / (Fc / Ac + Fg / Ag), which is (5) if Ac = Ag. Throws Error if the job can
 * run on no device of @machine, or if what it depends on is not known.
 */
Share share(const Machine &machine, const Intensity &intensity, const Conditions &conditions = {});
/* The same from what was measured: of each device alone, bytes per second; zero: it does not take part. */
Share share_of_rates(double cpu_rate, std::vector<double> gpu_rates);
/*
 * The same without the CPU, if a part of @bytes for it costs more than it saves beside GPUs: if the cores' latency
 * does, or if a block of @least, the smallest that a core is to have, takes one longer than the GPUs have for all.
 */
Share worthwhile(const Cpu &cpu, Share share, double bytes, double least = 0);
/* (1) to (3): seconds for @bytes if the CPU has the part @p of them, and each GPU of the rest what @share says. */
double seconds(const Share &share, double p, double bytes);

/* A run of a small part of the job on one device alone (for the CPU: on all of its cores). */
struct Probe {
    double bytes = 0; /* of input */
    double seconds = 0;
};
/*
 * The intensity at which the roofline says what was measured: peak / rate; where the rate is more than the bandwidth,
 * the ridge. So what a program leaves unused of the peak counts as operations. Throws Error if nothing was measured.
 */
double probed(const Cpu &cpu, const Probe &probe, Precision precision, const Conditions &conditions = {});
double probed(const Machine &machine, const Gpu &gpu, const Probe &probe, Precision precision,
              const Conditions &conditions = {});

/* (9): the part of a block's time that its transfers have; what streams can hide is the smaller of both parts. */
double overlap(const Machine &machine, const Gpu &gpu, double intensity, Precision precision,
               const Conditions &conditions = {});
/* Time of a block without streams over that with them: 1 / max(op, 1 - op). */
double gain_of_streams(double overlap);

/* (10): operations per byte of a block of so many bytes; does not fall as blocks grow. */
using IntensityOf = std::function<double(double bytes)>;
/*
 * (11): bytes of the smallest block, up to @most, with which the GPU reaches its peak; none if there is no such block,
 * for instance if the intensity is the same for all of them and below the ridge.
 */
std::optional<double> min_block(const IntensityOf &intensity, double ridge, double most);

} // namespace ptsched::spmd::model

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_MODEL_HPP */
