/* SPDX-License-Identifier: MIT */
#ifndef ROOFLINE_NETWORK_HPP
#define ROOFLINE_NETWORK_HPP

namespace roofline {

struct Network {
    double rate = 0; /* bytes per second */
    int rank = 0;    /* which of MPI's processes this one is */
};

/*
 * By the library of ranks that are MPI's, which this program is not linked with: it is loaded when it is needed. Each
 * process that mpirun has started calls this. Throws Error where there is no such library, or one process alone.
 */
Network measure_network();

} // namespace roofline

#endif /* ROOFLINE_NETWORK_HPP */
