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
    double rate = 0;      /* bytes per second of all its blocks together, by the model or measured; 0: takes no part */
    double share = 0;     /* of a partition, if the split is static; the sum of all is 1 */
    unsigned at_once = 1; /* blocks under way: cores, or streams */
    bool streams = false; /* these share one device, and are slower if there are more of them; cores do not */
    std::uint64_t bytes = 1;                /* of a block, see model/blocks.hpp */
    std::uint64_t least = 0;                /* of a block at the end of a partition; 0: an eighth of @bytes */
    std::uint64_t most = ~std::uint64_t{0}; /* larger blocks it cannot take, not even of one record */
    double latency = 0;                     /* seconds of a block besides its bytes */
};

struct SplitOptions {
    /* Who is idle gets a part of what others have left; else each has its share. */
    bool dynamic = false;
    /*
     * Not zero: the borders of all blocks are the first ones at or after multiples of that, whoever takes them, and no
     * block has another one's; so sums in their order are always the same.
     */
    std::uint64_t block_bytes = 0;
    /*
     * Which device is to have which block at first, for instance what it had in the last iteration. Where a split is
     * dynamic, who has done his own helps others.
     */
    std::vector<Home> homes = {};
};

struct Block {
    std::uint64_t id = 0;
    Range range;
    unsigned device = 0;
};

/*
 * One partition on one node, in blocks for its devices. Static: by their shares, in the order of the devices. Dynamic:
 * whoever is idle asks for a block. The first device (the CPU) has them from the front, others from the back, so that
 * in the next iteration most is where it was; and they become smaller at the end, so that all are ready at about the
 * same time. Knows no clock, threads or engines: @now is seconds of any clock that does not go back. One thread at a
 * time.
 */
class Split {
public:
    /* Throws Error if no device takes part, or their shares are not what a static split needs. */
    Split(const Range &partition, std::vector<SplitDevice> devices, Border border, SplitOptions options = {});

    /*
     * None: nothing for it now. If not all is finished() then, it is to ask again after each done(), give_back() and
     * fail(). Throws Error if a record is larger than any device can take.
     */
    std::optional<Block> next(unsigned device, double now);
    /* False: the result is to be thrown away, as the device counts as failed or the block was given back. */
    bool done(std::uint64_t id, double now);
    /* The device has not done it, and goes on; anybody may get it next, in other blocks. */
    void give_back(std::uint64_t id);
    /* It does nothing more; what it has under way and its share go to others. Throws Error if nobody is left for it. */
    void fail(unsigned device);

    bool finished() const { return !pool_.bytes() && under_way_.empty(); }
    std::uint64_t waiting_bytes() const { return pool_.bytes(); }
    /* But for what it may take over from others. */
    bool has_more_for(unsigned device) const
    {
        return pool_.bytes_of(device) > 0 || pool_.bytes_of(Pool::everybody) > 0;
    }
    std::uint64_t done_bytes(unsigned device) const { return devices_.at(device).done_bytes; }
    /* Bytes per second as measured so far; what SplitDevice says before the first block is done. */
    double rate(unsigned device) const;
    /* The part of what is done that the device has done: for the first one, p as it came out. */
    double share(unsigned device) const;
    /* Who has done which block: SplitOptions::homes of the next iteration. */
    const std::vector<Home> &homes() const { return done_; }

private:
    struct Device : SplitDevice {
        explicit Device(const SplitDevice &device) : SplitDevice(device) {}

        bool takes_part() const { return rate > 0 && !failed; }

        bool failed = false;
        unsigned under_way = 0;
        std::uint64_t done_bytes = 0;
        /* Of the blocks that are done: bytes, for streams times how many there were at once, and durations. */
        double measured_bytes = 0, measured_seconds = 0;
    };
    struct UnderWay {
        Block block;
        double since;
        unsigned at_once;
    };

    void check() const;
    std::uint64_t size_for(unsigned device, std::uint64_t waiting) const;
    double seconds_for(unsigned device, std::uint64_t bytes) const;
    bool others_are_faster(unsigned device) const;
    std::optional<Range> take(unsigned device);
    std::optional<Range> take_from(unsigned whose, unsigned device);
    unsigned who_needs_help(unsigned helper) const;
    void require_somebody(const Range &record) const;
    void take_back(const UnderWay &under_way);

    const SplitOptions options_;
    Pool pool_;
    std::vector<Device> devices_;
    std::map<std::uint64_t, UnderWay> under_way_;
    std::vector<Home> done_;
    std::uint64_t next_id_ = 0;
};

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_SPLIT_HPP */
