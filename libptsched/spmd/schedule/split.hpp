/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_SCHEDULE_SPLIT_HPP
#define PTSCHED_SPMD_SCHEDULE_SPLIT_HPP

#include "libptsched/spmd/schedule/pool.hpp"

#include <map>
#include <optional>
#include <vector>

namespace ptsched::spmd::schedule {

/* A CPU with all of its cores, or a GPU. */
struct SplitDevice {
    double rate = 0;                        /* bytes per second, of all its blocks together; by the model or measured */
    double share = 0;                       /* of a partition, if the split is static; the sum of all is 1 */
    unsigned at_once = 1;                   /* blocks: cores, or streams */
    std::uint64_t bytes = 1;                /* of a block, see model/blocks.hpp */
    std::uint64_t most = ~std::uint64_t{0}; /* that it can take at all: no block is larger, but of one record */
    double latency = 0;                     /* seconds of a block besides its bytes */
};

struct SplitOptions {
    /* Who is idle gets a part of what others have left; else each has its share. */
    bool dynamic = false;
    /* Not zero: borders of blocks are at multiples of that, whoever takes them, see MasterOptions::partition_bytes. */
    std::uint64_t block_bytes = 0;
    /* For dynamic ones: whose each part is at first. Who has done his own helps others. */
    std::vector<Home> homes;
};

struct Block {
    std::uint64_t id = 0; /* blocks in the order of time */
    Range range;
    unsigned device = 0;
};

/*
 * One partition on one node, in blocks for its devices. Static: by their shares, in the order of the devices. Dynamic:
 * whoever is idle takes a block; the first device (the CPU) from the front, others from the back, so that in the next
 * iteration most is where it was; blocks become smaller at the end, so that all are ready at about the same time.
 * Knows no clock, threads or engines: @now is seconds of any clock that does not go back. One thread at a time.
 */
class Split {
public:
    /* Throws Error if no device can take part, or shares are not between 0 and 1. */
    Split(const Range &partition, std::vector<SplitDevice> devices, Border border, SplitOptions options = {});

    /*
     * None: nothing for it now. If it is not finished() then, it may ask again after a done(), give_back() or fail().
     * Throws Error if a record is larger than any device can take.
     */
    std::optional<Block> next(unsigned device, double now);
    void done(std::uint64_t id, double now);
    /* The device could not do it, and goes on: somebody else has to, if there is anybody. */
    void give_back(std::uint64_t id);
    /* It does nothing more; what it has under way and its share go to others. Throws Error if nobody is left for it. */
    void fail(unsigned device);

    bool finished() const { return !pool_.bytes() && under_way_.empty(); }
    std::uint64_t waiting_bytes() const { return pool_.bytes(); }
    std::uint64_t done_bytes(unsigned device) const { return devices_.at(device).done_bytes; }
    /* Bytes per second as measured so far; what SplitDevice says before the first block is done. */
    double rate(unsigned device) const;
    /* Part of what is done that the device has done: for the first one, p as it came out. */
    double share(unsigned device) const;
    /* Who has done what: SplitOptions::homes of the next iteration. */
    std::vector<Home> homes() const;

private:
    struct Device : SplitDevice {
        explicit Device(const SplitDevice &device) : SplitDevice(device) {}

        bool failed = false;
        unsigned under_way = 0;
        double busy_since = 0, busy = 0; /* of time in which it had at least one block */
        std::uint64_t done_bytes = 0;
    };
    struct UnderWay {
        Range range;
        unsigned device;
    };

    std::uint64_t size_for(unsigned device) const;
    std::optional<Range> take(unsigned device);
    unsigned who_is_last(unsigned helper) const;
    void end(unsigned device, double now);

    Border border_;
    SplitOptions options_;
    Pool pool_;
    std::vector<Device> devices_;
    std::map<std::uint64_t, UnderWay> under_way_;
    std::vector<Home> done_;
    std::uint64_t next_id_ = 0;
};

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_SPLIT_HPP */
