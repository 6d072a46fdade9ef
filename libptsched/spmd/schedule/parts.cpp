// SPDX-License-Identifier: MIT
#include "libptsched/spmd/schedule/parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ptsched::spmd::schedule {

std::vector<Home> parts_by(const std::vector<double> &shares, const Range &range, const Border &border,
                           std::uint64_t grid)
{
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    const auto is_none = [](double share) { return share <= 0; };
    std::vector<Home> parts;
    double before = 0;
    std::uint64_t at = range.begin;
    for (unsigned i = 0; i < shares.size() && at < range.end; i++) {
        if (is_none(shares[i]))
            continue;
        before += shares[i];
        std::uint64_t end =
            range.begin + static_cast<std::uint64_t>(std::llround(before / all * static_cast<double>(range.size())));
        if (grid)
            end = (end + grid / 2) / grid * grid;
        const bool is_last = std::all_of(shares.begin() + i + 1, shares.end(), is_none);
        end = is_last || end >= range.end ? range.end : std::min(border(std::max(end, at)), range.end);
        if (end > at)
            parts.push_back({i, {at, end}});
        at = end;
    }
    return parts;
}

} // namespace ptsched::spmd::schedule
