/* SPDX-License-Identifier: MIT */
/*
 * How much of the device the program's kernels fill, where kernels of several programs run beside each other (MPS).
 *
 * A launch fills the part that its blocks are of those that the multiprocessors can have at once, as CUDA calculates
 * occupancy; what is not the launch of one kernel, or not known, fills all of it. Not locked.
 */
#ifndef PTSCHED_PRELOAD_METER_OCCUPANCY_HPP
#define PTSCHED_PRELOAD_METER_OCCUPANCY_HPP

#include "libptsched/preload/meter/estimate.hpp"

namespace ptsched::preload {

class Occupancy {
public:
    /* From now on it is of interest, on this device. Without that, all fills the device. */
    void begin(CUdevice ordinal);

    /*
     * What a submission fills. Asks the driver, in whose current context the function is: to be called before it ends.
     */
    double of(const Key &key) const;

    /* One that fills so much ran for so long. */
    void saw(double filled, std::uint64_t ran_ns);

    /* Mean of the last ones, by time; 1 where there was none. */
    double mean() const { return ran_ns_ > 0 ? filled_ns_ / ran_ns_ : 1; }

private:
    int multiprocessors_{0};
    double ran_ns_{0}, filled_ns_{0};
};

} // namespace ptsched::preload

#endif
