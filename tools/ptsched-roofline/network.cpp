// SPDX-License-Identifier: MIT
#include "tools/ptsched-roofline/network.hpp"

#include <ptsched/base/error.hpp>

#include <dlfcn.h>

namespace roofline {

Network measure_network()
{
    constexpr const char *library = "libptsched-spmd-mpi.so.0";
    /* MPI's own plugins look for MPI among what all of the program sees. */
    void *const mpi = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!mpi)
        throw ptsched::Error("the network is measured by " + std::string(library) + ", which cannot be loaded (" +
                             dlerror() + "): install it, or say by LD_LIBRARY_PATH where it is");
    using Measure = int(double *, int *, char *, std::size_t);
    auto *const measure = reinterpret_cast<Measure *>(dlsym(mpi, "ptsched_spmd_network_rate"));
    if (!measure)
        throw ptsched::Error(std::string(library) + " is of an older version, which does not measure the network");
    Network network;
    char error[512] = "";
    if (measure(&network.rate, &network.rank, error, sizeof(error)) != 0)
        throw ptsched::Error(error);
    return network;
}

} // namespace roofline
