// SPDX-License-Identifier: MIT
#include "libptsched/device/copy.hpp"

namespace ptsched::device {

void Copy::await_ready(Queue &other)
{
    if (ready->seen() || (moved && queue != &other && ready->reached()))
        ready.reset();
    else if (queue != &other)
        other.after(ready);
}

/* One marker for each queue is enough, since it works in order. Where nothing is evicted, nobody asks. */
void Copy::used(const Queue &by, const MarkerPtr &until)
{
    was_used = true;
    if (!residents)
        return;
    if (!use.queue || use.queue == &by) {
        use.queue = &by;
        if (use.marker != until) /* to count who has it takes longer */
            use.marker = until;
        return;
    }
    for (Use &other : more_uses)
        if (other.queue == &by) {
            if (other.marker != until)
                other.marker = until;
            return;
        }
    more_uses.push_back({&by, until});
}

std::vector<MarkerPtr> Copy::pending() const
{
    std::vector<MarkerPtr> markers;
    auto add = [&](const MarkerPtr &marker) {
        if (marker && !marker->reached())
            markers.push_back(marker);
    };
    add(ready);
    add(use.marker);
    for (const Use &other : more_uses)
        add(other.marker);
    return markers;
}

void Copy::clear()
{
    device = nullptr;
    ready.reset();
    queue = nullptr;
    moved = was_used = fixed = foreign = lent = false;
    pins = 0;
    use = {};
    more_uses.clear();
    next = nullptr;
}

} // namespace ptsched::device
