/* SPDX-License-Identifier: MIT */
/*
 * Several sets of a subgraph as one program, one after another: a driver needs for it hardly longer than for one set.
 * Where sets are short and who takes results is far behind, the last ones wait until so many are complete.
 */
#ifndef PTSCHED_PTASK_REPLAY_BATCH_HPP
#define PTSCHED_PTASK_REPLAY_BATCH_HPP

#include "libptsched/ptask/replay/replay.hpp"

#include <list>

namespace ptsched::ptask {

struct Batch {
    static constexpr std::size_t sets = 4;
    /* Results that have not been taken, of each output, so that nobody waits for the next ones. */
    static constexpr std::size_t results_ahead = 2 * sets;

    explicit Batch(const Subgraph &one);
    /* Whether channels have room for it: otherwise it would never be complete. */
    static bool fits(const Subgraph &one) PTASK_LOCKED;
    /* Whether the next sets can be one: nothing but blocks come in. */
    static bool is_complete(const Subgraph &one) PTASK_LOCKED;
    /* Whether nobody is kept waiting until they can be one. */
    static bool may_wait(const Subgraph &one) PTASK_LOCKED;
    /* Whether they may not wait any more: by what has come at an input, or was taken from an output. */
    static bool has_news(const Channel &input) PTASK_LOCKED
    {
        return input.tokens.size() >= sets || has_signals(input.tokens[input.tokens.size() - 1].item);
    }
    static bool has_less(const Channel &output) PTASK_LOCKED
    {
        return output.tokens.size() < results_ahead || output.used() + sets <= output.capacity;
    }
    /* Sets of the subgraph that have come, as far as it matters here. */
    static std::size_t complete(const Subgraph &one) PTASK_LOCKED;

    Subgraph subgraph;
    ReplaySet set = {};
    std::list<std::unique_ptr<Replay>> replays = {}; /* those used last come last */

private:
    static bool has_signals(const Item &item) { return !item.block || item.end_of_stream || item.error; }
    static bool have_no_signals(const Subgraph &one) PTASK_LOCKED;
    static bool has_room(const Subgraph &one) PTASK_LOCKED;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_BATCH_HPP */
