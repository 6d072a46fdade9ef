// SPDX-License-Identifier: MIT
/* Tasks of a pool that the host does. */
#include "libptsched/pool/impl.hpp"

#include <algorithm>
#include <cstring>

namespace ptsched::pool {

/* So many tasks are taken by threads of the host's pool, each by whichever comes to it first. */
void CoreImpl::ready_on_host(std::size_t tasks)
{
    for (; tasks; tasks--) {
        const std::size_t next = next_host_queue_.fetch_add(1, std::memory_order_relaxed);
        on_host_.fetch_add(1, std::memory_order_relaxed);
        host_queues_[next % host_queues_.size()]->run(*host_step_, {}, {});
    }
}

/* What it takes may have been taken by another: then there is nothing to do. */
void CoreImpl::do_on_host()
{
    alignas(Piece) std::byte task[most_bytes];
    Label label;
    if (life() < Life::stopped && take_for_host(task, label)) {
        room_.wake();
        run_on_host(task, label);
    }
    on_host_.fetch_sub(1, std::memory_order_relaxed);
}

bool CoreImpl::take_for_host(std::byte *task, Label &label)
{
    const auto take = [&](const std::byte *from, const Label &of) {
        label = of;
        std::memcpy(task, from, kinds_[of.kind].bytes);
    };
    for (Inputs *inputs : {&host_, &either_})
        for (auto queue = inputs->queues.rbegin(); queue != inputs->queues.rend(); ++queue)
            if ((*queue)->pop(1, take))
                return true;
    return false;
}

void CoreImpl::run_on_host(std::byte *task, const Label &label)
{
    try {
        host_functions_[label.kind](task);
    } catch (...) {
        fail(std::current_exception(), describe(label) + ", has failed on the host");
        return;
    }
    Output &output = *outputs_[label.output];
    const auto put = [&] {
        return life() >= Life::stopped || output.results.push(1, [&](std::size_t, std::size_t, std::byte *to) {
            std::memcpy(to, task, kinds_[label.kind].bytes);
            return label;
        });
    };
    if (!put()) {
        const device::HostPool::Blocked blocked;
        output.rooms.wait_until(no_limit(), put);
    }
    output.arrived.fetch_add(1, std::memory_order_release);
    done_on_host_.fetch_add(1, std::memory_order_relaxed);
    output.arrivals.wake();
}

} // namespace ptsched::pool
