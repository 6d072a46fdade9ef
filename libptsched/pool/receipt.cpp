// SPDX-License-Identifier: MIT
/* Tasks that come back to who pushed them. */
#include "libptsched/pool/impl.hpp"

#include <cstring>

namespace ptsched::pool {

/* A receipt begins at a multiple of 64, and is larger than 256. */
Sleepers &CoreImpl::senders_of(const Receipt &receipt)
{
    return senders_[(reinterpret_cast<std::uintptr_t>(&receipt) >> 8) % senders_.size()];
}

bool CoreImpl::send(unsigned kind, Receipt &receipt, const Push &how, Duration most)
{
    if (how.where != Where::device)
        throw Error("pool: a task with a receipt is for devices: push it with Where::device");
    TaskQueue &queue = queue_for(kind, how);
    receipt.renew();
    const Label label{reinterpret_cast<std::uintptr_t>(&receipt), to_sender, static_cast<std::uint8_t>(kind)};
    const auto try_it = [&] {
        if (life() != Life::open)
            refuse_push();
        return queue.push(1, [&](std::size_t, std::size_t, std::byte *to) {
            std::memcpy(to, receipt.task(), kinds_[kind].bytes);
            return label;
        }) == 1;
    };
    const bool sent = try_it() || (most != Duration::zero() && room_.wait_until(time_after(most), try_it));
    if (sent)
        work_.wake();
    return sent;
}

bool CoreImpl::await(const Receipt &receipt, Duration most)
{
    const auto is_over = [&] {
        if (receipt.is_back())
            return true;
        throw_failure();
        if (life() == Life::stopped)
            refuse_push();
        return false;
    };
    return is_over() || (most != Duration::zero() && senders_of(receipt).wait_until(time_after(most), is_over));
}

unsigned CoreImpl::blocks(unsigned device) const
{
    return guests_.at(device)->resident().shape().blocks;
}

} // namespace ptsched::pool
