// SPDX-License-Identifier: MIT
#include "libptsched/spmd/mpi/mpi_link.hpp"
#include <ptsched/spmd/mpi.hpp>

#include <cstdio>

namespace ptsched::spmd::mpi {
namespace {

/* Rank 0 says it for all; of what others alone know, as that it is gone, one of them does. */
void say(const std::exception &error, unsigned rank)
{
    const std::string text = error.what();
    const bool is_about_first = text.find("rank 0 has failed") != text.npos;
    if (rank == (is_about_first ? 1 : 0))
        std::fprintf(stderr, "%s\n", text.c_str());
}

} // namespace

Cluster cluster(Options options)
{
    options.ranks = 1;
    return Cluster(std::make_shared<Core>(std::move(options), std::make_unique<MpiLink>()));
}

int main(const std::function<int(Cluster &)> &body, Options options)
{
    unsigned rank = 0;
    try {
        Cluster all = cluster(std::move(options));
        rank = all.rank();
        return body(all);
    } catch (const std::exception &error) {
        say(error, rank);
        return 1;
    }
}

} // namespace ptsched::spmd::mpi
