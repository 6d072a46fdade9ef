// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/work.hpp"

namespace ptsched::arena {

void Work::finish()
{
    if (!work_)
        return;
    try {
        work_->finish();
    } catch (...) {
        for (const auto &[extent, pages] : fetched_)
            extent->directory.lost(pages);
        throw;
    }
    fetched_.clear();
}

} // namespace ptsched::arena
