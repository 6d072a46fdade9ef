// SPDX-License-Identifier: MIT
/* When several sets of a subgraph are given at once, and when one waits for others. */
#include "libptsched/ptask/replay/replayer.hpp"

#include <algorithm>
#include <functional>

namespace ptsched::ptask {

/* Not where it is to be known of each set when it has ended. */
void Replayer::make_batch(ReplayedSubgraph &replayed) const
{
    if (replayed.replays.size() == 1 && !replayed.goes_ahead && !replayed.may_double_buffer &&
        !runner_.keeps_timeline() && Batch::fits(replayed.subgraph))
        replayed.batch = std::make_unique<Batch>(replayed.subgraph);
}

/*
 * Whether several sets can be given at once. Not where somebody reads results on the host, who would wait for the
 * others' as well, nor where another subgraph may have to go first.
 */
bool Replayer::may_batch(const ReplayedSubgraph &replayed)
{
    return replayed.batch && replayed.may_batch && replayed.stays && !replayed.sticky_came && !components_compete() &&
           replayed.gpu_seconds <= seconds_of_a_run / Batch::sets &&
           std::ranges::none_of(replayed.set.on_host, std::identity());
}

/* Of a complete set: for others. */
bool Replayer::waits_for_more(const ReplayedSubgraph &replayed)
{
    return replayed.batch && !replayed.hurries && Batch::may_wait(replayed.subgraph) &&
           !Batch::is_complete(replayed.subgraph) && may_batch(replayed);
}

void Replayer::hurry()
{
    for (const auto &replayed : replayed_)
        if (replayed->waits) {
            replayed->hurries = true;
            look_at(*replayed);
        }
}

void Replayer::hurry(Lock &lock)
{
    hurry();
    go(lock);
}

/* What a batch has learned of its results is so for sets, which are no batches then. */
void Replayer::spread_readers(ReplayedSubgraph &replayed)
{
    std::vector<bool> &on_host = replayed.set.on_host;
    if (!replayed.is_batch)
        return;
    for (std::size_t i = 0; i < replayed.batch->set.on_host.size(); i++)
        on_host[i % on_host.size()] = on_host[i % on_host.size()] || replayed.batch->set.on_host[i];
    replayed.batch->set.on_host.assign(replayed.batch->set.on_host.size(), false);
}

} // namespace ptsched::ptask
