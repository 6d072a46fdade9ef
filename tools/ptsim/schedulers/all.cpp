// SPDX-License-Identifier: MIT
#include "tools/ptsim/schedulers/all.hpp"

#include <algorithm>

namespace ptsim {

const std::vector<SchedulerKind> &scheduler_kinds()
{
    static const std::vector<SchedulerKind> kinds = {
        {"weighted", "ptsched, weighted", make_weighted, true},
        {"weighted-idle-off", "ptsched, weighted, idle time kept", make_weighted_idle_off, true},
        {"literal", "ptsched, literal", make_literal},
        {"literal-many", "ptsched, literal, many=on (the paper)", make_literal_many, false, false},
        {"round-robin", "round-robin", make_round_robin},
        {"lottery", "lottery", make_lottery},
        {"stride", "stride", make_stride},
        {"eevdf", "EEVDF", make_eevdf},
        {"drm-fair", "DRM fair", make_drm_fair},
        {"fifo", "first come, first served, to the end", make_fifo, false, false},
    };
    return kinds;
}

const SchedulerKind *find_scheduler(const std::string &name)
{
    const auto &kinds = scheduler_kinds();
    const auto found = std::ranges::find(kinds, name, &SchedulerKind::name);
    return found == kinds.end() ? nullptr : &*found;
}

} // namespace ptsim
