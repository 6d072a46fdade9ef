// SPDX-License-Identifier: MIT
#include "libptsched/spmd/mpi/mpi_link.hpp"
#include <ptsched/spmd/mpi.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace ptsched::spmd::mpi {
namespace {

/* Others have the time to end the job before a rank says what all of them would. */
constexpr std::chrono::milliseconds first_says_it{300};

/*
 * What a job throws, it throws on all ranks: rank 0 says it, or another one if rank 0 is gone. Anything else may be
 * known to this rank alone, which cannot tell others, and ends them.
 */
void say(const std::string &text, unsigned rank)
{
    if (text.starts_with("job \"")) {
        const bool is_about_first = text.find("rank 0 has failed") != text.npos;
        if (rank == (is_about_first ? 1 : 0))
            std::fprintf(stderr, "%s\n", text.c_str());
        return;
    }
    if (rank > 0)
        std::this_thread::sleep_for(first_says_it);
    std::fprintf(stderr, "rank %u: %s\n", rank, text.c_str());
    break_off();
}

} // namespace

Cluster cluster(Options options)
{
    options.ranks = 1;
    return Cluster(std::make_shared<Core>(std::move(options), std::make_unique<MpiLink>()));
}

int main(const std::function<int(Cluster &)> &body, Options options)
{
    try {
        Cluster all = cluster(std::move(options));
        try {
            return body(all);
        } catch (const std::exception &error) {
            say(error.what(), all.rank());
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 1;
}

} // namespace ptsched::spmd::mpi
