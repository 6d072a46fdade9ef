/* SPDX-License-Identifier: MIT */
/* What has become of a run: who did what, and how long it took. */
#ifndef PTSCHED_SPMD_REPORT_HPP
#define PTSCHED_SPMD_REPORT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

/* Times are seconds. Of a run on all ranks; those that are not rank 0 have their own part alone. */
struct Report {
    struct Device {
        std::string name;
        std::uint64_t bytes = 0, blocks = 0; /* of the input that it has mapped */
        double busy = 0;                     /* time in which it had at least one block */

        double rate() const { return busy > 0 ? static_cast<double>(bytes) / busy : 0; } /* bytes per second */
    };
    struct Rank {
        unsigned rank = 0;
        std::vector<Device> devices;
        std::uint64_t partitions = 0, lost = 0;  /* lost: done by somebody else first, or with a rank that failed */
        double map = 0, shuffle = 0, reduce = 0; /* from the run's begin to the end of each, on that rank */
        std::uint64_t pairs_mapped = 0, keys = 0, results = 0;
        std::uint64_t sent = 0, spilled = 0; /* bytes to other ranks, and to files */
    };

    std::string job;
    double seconds = 0;
    std::uint64_t input_bytes = 0;
    std::vector<Rank> ranks;
    std::vector<unsigned> failed; /* ranks */
    /*
     * The CPUs' part of the input: what came of it, and what the model said of rank 0's, or, where a static split has
     * no model, the rates that were measured. None: neither was asked.
     */
    double p = 1;
    std::optional<double> model_p;

    std::string text() const; /* for people */
    std::string json() const; /* one object */
};

/* Of a run that goes on. */
struct Progress {
    std::uint64_t done = 0, all = 0; /* bytes of the input */
    double seconds = 0, rate = 0;    /* since it began; bytes per second lately */
    std::optional<double> left;      /* seconds, of the map alone; none: nothing is known yet */
    const char *stage = "map";       /* or "shuffle", "reduce" */

    std::string text() const; /* a line without its end */
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_REPORT_HPP */
