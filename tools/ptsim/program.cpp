// SPDX-License-Identifier: MIT
#include "tools/ptsim/program.hpp"

#include "tools/ptsim/random.hpp"

#include <algorithm>
#include <utility>

namespace ptsim {

/* One burst that no simulation outlasts. */
Pattern hog()
{
    return job(kNever);
}

Pattern frames(Ns period, Ns work_ns)
{
    return [=, due = kNever](Ns now) mutable -> std::optional<Burst> {
        due = due == kNever ? now : due + period;
        if (now > due + period)
            due += (now - due) / period * period;
        return Burst{due, work_ns};
    };
}

Pattern requests(std::uint64_t seed, Ns mean_think, Ns work_ns)
{
    return [=, random = Random(seed)](Ns now) mutable -> std::optional<Burst> {
        return Burst{now + static_cast<Ns>(random.exponential(static_cast<double>(mean_think))), work_ns};
    };
}

Pattern job(Ns work_ns)
{
    return [=, done = false](Ns now) mutable -> std::optional<Burst> {
        if (std::exchange(done, true))
            return std::nullopt;
        return Burst{now, work_ns};
    };
}

Pattern respawning(Ns work_ns)
{
    return [=](Ns now) -> std::optional<Burst> { return Burst{now, work_ns, true}; };
}

} // namespace ptsim
