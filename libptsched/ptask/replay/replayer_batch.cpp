// SPDX-License-Identifier: MIT
// When several sets of a part are given at once, and when one waits for others.
#include "libptsched/ptask/replay/replayer.hpp"
#include "libptsched/ptask/run/scheduler.hpp"

#include <algorithm>
#include <functional>

namespace ptsched::ptask {

/* Not where it is to be known of each set when it has ended. */
void Lowering::make_batch(Lowered &part) const
{
    if (part.slots.size() == 1 && !part.goes_ahead && !part.may_pair && !scheduler_.timeline_ && Batch::fits(part.part))
        part.batch = std::make_unique<Batch>(part.part);
}

/*
 * Whether several sets can be given at once. Not where somebody reads results on the host, who would wait for the
 * others' as well, nor where another part may have to go first.
 */
bool Lowering::may_batch(const Lowered &part)
{
    return part.batch && part.may_batch && part.stays && !part.sticky_came && !parts_compete() &&
           part.gpu_seconds <= seconds_of_a_run / Batch::sets &&
           std::ranges::none_of(part.set.on_host, std::identity());
}

/* Of a complete set: for others. */
bool Lowering::waits_for_more(const Lowered &part)
{
    return part.batch && !part.hurries && Batch::may_wait(part.part) && !Batch::is_complete(part.part) &&
           may_batch(part);
}

void Lowering::hurry()
{
    for (const auto &part : parts_)
        if (part->waits) {
            part->hurries = true;
            look_at(*part);
        }
}

void Lowering::hurry(Lock &lock)
{
    hurry();
    go(lock);
}

/* What a batch has learned of its results is so for sets, which are no batches then. */
void Lowering::spread_readers(Lowered &part)
{
    std::vector<bool> &on_host = part.set.on_host;
    if (!part.is_batch)
        return;
    for (std::size_t i = 0; i < part.batch->set.on_host.size(); i++)
        on_host[i % on_host.size()] = on_host[i % on_host.size()] || part.batch->set.on_host[i];
    part.batch->set.on_host.assign(part.batch->set.on_host.size(), false);
}

} // namespace ptsched::ptask
