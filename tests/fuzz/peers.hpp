/* SPDX-License-Identifier: MIT */
/*
 * Processes that connect to the broker under a fuzz target, and end when it says so. What their connections carry is
 * sent by the target, in their names where it may.
 */
#ifndef PTSCHED_TEST_FUZZ_PEERS_HPP
#define PTSCHED_TEST_FUZZ_PEERS_HPP

#include <ptsched/base/fd.hpp>

#include <array>
#include <string>
#include <sys/types.h>

namespace fuzz {

class Peers {
public:
    static constexpr std::size_t kMost = 4;

    /* The first is the parent of the others, and lives for as long as the target. */
    explicit Peers(std::string socket_path);

    /* A connection of process @which to the socket, which exists; none if nobody listens. */
    ptsched::UniqueFd connect(std::size_t which);
    pid_t pid(std::size_t which);
    /* Another takes its place when it is needed. */
    void kill(std::size_t which);

private:
    struct Process {
        pid_t pid = 0; /* 0: not there */
        ptsched::UniqueFd control;
    };

    Process &get(std::size_t which);

    std::array<Process, kMost> processes_;
};

} // namespace fuzz

#endif
