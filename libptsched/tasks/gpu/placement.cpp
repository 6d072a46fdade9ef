// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/placement.hpp"

namespace ptsched::tasks {

std::size_t Placement::place(const Task &task, const std::vector<std::unique_ptr<Streams>> &gpus)
{
    if (task.attributes.device >= 0)
        return static_cast<std::size_t>(task.attributes.device);
    if (gpus.size() == 1)
        return 0;
    missing_.assign(gpus.size(), 0);
    directory_.add_missing(task, missing_);
    std::size_t best = 0;
    for (std::size_t i = 1; i < gpus.size(); i++)
        if (missing_[i] < missing_[best] || (missing_[i] == missing_[best] && gpus[i]->load() < gpus[best]->load()))
            best = i;
    return best;
}

} // namespace ptsched::tasks
