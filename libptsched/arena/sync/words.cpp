// SPDX-License-Identifier: MIT
#include "libptsched/arena/sync/words.hpp"

#include <cstring>
#include <string>

namespace ptsched::arena {

void SyncWords::make()
{
    auto memory = device::Allocation::pinned(most * sizeof(detail::HostWords));
    auto *const host = static_cast<detail::HostWords *>(memory.host_address());
    detail::GpuWords *gpu = nullptr;
    if (!gpus_.empty()) {
        gpu_ = device::Allocation::one_address(gpus_, most * sizeof(detail::GpuWords));
        gpu = static_cast<detail::GpuWords *>(device::host_pointer(gpu_.address()));
        queue_ = gpus_[0]->make_queue();
    }
    unused_.reserve(most);
    for (std::size_t i = most; i-- > 0;)
        unused_.push_back({host + i, gpu ? gpu + i : nullptr});
    host_ = std::move(memory);
}

detail::Words SyncWords::take()
{
    const Guard lock(mutex_);
    if (host_.empty())
        make();
    if (unused_.empty())
        throw Error("a window can have " + std::to_string(most) + " mutexes and barriers, and has them");
    const detail::Words words = unused_.back();
    *words.host = {};
    if (words.gpu) {
        const detail::GpuWords none{};
        queue_->upload(reinterpret_cast<std::uintptr_t>(words.gpu), &none, sizeof(none));
        queue_->finish();
    }
    unused_.pop_back();
    return words;
}

void SyncWords::give_back(const detail::Words &words)
{
    const Guard lock(mutex_);
    unused_.push_back(words);
}

} // namespace ptsched::arena
