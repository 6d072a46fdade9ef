// SPDX-License-Identifier: MIT
#include "tools/ptschedd/rank.hpp"

namespace ptsched {

Group::Group() : ptsp_gang{}
{
    ptsp_gang_init(this);
}

Rank::~Rank()
{
    if (gang)
        ptsp_gang_part(this);
}

} // namespace ptsched
