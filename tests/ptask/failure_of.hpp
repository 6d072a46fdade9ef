/* SPDX-License-Identifier: MIT */
#ifndef PTASK_FAILURE_OF_HPP
#define PTASK_FAILURE_OF_HPP

#include <ptsched/ptask/graph.hpp>

#include <string>

namespace test {

/* What @work throws of a graph that fails, at the latest when it is done again; empty if the graph does not. */
template <typename Work> std::string failure_of(Work work)
{
    constexpr int most = 100000;
    for (int i = 0; i < most; i++)
        try {
            work();
        } catch (const ptsched::ptask::Failure &failure) {
            return failure.what();
        } catch (const ptsched::ptask::Error &) {
            /* Of the block. */
        }
    return {};
}

} // namespace test

#endif /* PTASK_FAILURE_OF_HPP */
