// SPDX-License-Identifier: MIT
/* A call, from when it is started until its result is there. */
#include "libptsched/arena/call/aside.hpp"
#include "libptsched/base/nested.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace ptsched::arena::detail {

Record &CallsImpl::make(const Target &target)
{
    Record &record = records_.take();
    record.target = &target;
    record.receipt.renew();
    server_.begin();
    return record;
}

Record &CallsImpl::start(const Target &target, const std::byte *arguments)
{
    Record &record = make(target);
    try {
        begin(record, arguments);
    } catch (...) {
        release(record);
        throw;
    }
    return record;
}

void CallsImpl::run(const Target &target, const std::byte *arguments, std::byte *result)
{
    Record &record = make(target);
    std::optional<Aside> aside;
    try {
        if (serving)
            aside.emplace(*this, record, for_ever);
        begin(record, arguments);
    } catch (...) {
        release(record);
        throw;
    }
    finish(record, result);
}

void CallsImpl::begin(Record &record, const std::byte *arguments)
{
    const Target &target = *record.target;
    collect_pointers(target.pointers, arguments, target.name, record.pointers);
    if (options_.hooks.before_call)
        options_.hooks.before_call(Side::gpu(target.how.gpu), record.pointers);
    record.passes_gpu();
    if (target.how.blocks)
        begin_spread(record, arguments);
    else
        begin_in_slot(record, arguments);
}

void CallsImpl::begin_in_slot(Record &record, const std::byte *arguments)
{
    const Target &target = *record.target;
    std::byte *slot = record.receipt.task(), *room = slot + sizeof(Header);
    const Header header{gpus_[target.how.gpu]->line.channel(), record.index, target.is_beside};
    std::memcpy(slot, &header, sizeof(header));
    if (target.is_beside)
        std::memcpy(room, &record.beside, sizeof(record.beside));
    std::memcpy(target.is_beside ? record.beside : room, arguments, target.argument_bytes);
    try {
        pool_->send(target.number, record.receipt, {.device = static_cast<int>(target.how.gpu)}, for_ever);
    } catch (const pool::Failure &) {
        std::rethrow_exception(nested<CallFailure>(
            "calls: " + describe(target.name, target.signature) + ", cannot be called", std::current_exception()));
    }
}

bool CallsImpl::has_ended(const Record &record) const
{
    if (record.target->how.blocks)
        return await_spread(record, Duration::zero());
    return record.receipt.is_back();
}

bool CallsImpl::await(Record &record, Duration most)
{
    if (has_ended(record))
        return true;
    const Aside aside(*this, record, most);
    if (record.target->how.blocks)
        return await_spread(record, most);
    try {
        return pool_->await(record.receipt, most);
    } catch (const pool::Failure &) {
        std::rethrow_exception(nested<CallFailure>("calls: " + describe(record.target->name, record.target->signature) +
                                                       ", has not come back",
                                                   std::current_exception()));
    }
}

void CallsImpl::finish(Record &record, std::byte *result)
{
    const Target &target = *record.target;
    try {
        await(record, for_ever);
    } catch (...) {
        drop(record);
        throw;
    }
    record.passes_gpu();
    const bool is_beside = target.is_beside || target.how.blocks;
    if (target.result_bytes)
        std::memcpy(result, is_beside ? record.beside : record.receipt.task() + sizeof(Header), target.result_bytes);
    const std::exception_ptr failure = take_failure(record);
    std::vector<const void *> pointers;
    if (options_.hooks.after_call)
        pointers.swap(record.pointers);
    release(record);
    if (options_.hooks.after_call)
        options_.hooks.after_call(Side::gpu(target.how.gpu), pointers);
    if (failure)
        std::rethrow_exception(failure);
    if (target.returns_pointer) {
        const void *pointer;
        std::memcpy(&pointer, result, sizeof(pointer));
        check_pointer(pointer, "what '" + target.name + "' returns");
    }
}

void CallsImpl::release(Record &record)
{
    record.end.reset();
    take_failure(record);
    server_.end();
    records_.give(record);
}

/* One that the device still has is for somebody else when that has ended. */
void CallsImpl::drop(Record &record) noexcept
{
    Guard lock(dropped_mutex_);
    dropped_.push_back(&record);
    dropped_count_.store(static_cast<unsigned>(dropped_.size()), std::memory_order_relaxed);
}

bool CallsImpl::look_after_dropped()
{
    if (!dropped_count_.load(std::memory_order_relaxed))
        return false;
    Guard lock(dropped_mutex_);
    const std::size_t ended = std::erase_if(dropped_, [this](Record *record) {
        bool has = false;
        try {
            has = has_ended(*record);
        } catch (const Error &) {
            /* It stays, as what the device might write to. */
        }
        if (has)
            release(*record);
        return has;
    });
    dropped_count_.store(static_cast<unsigned>(dropped_.size()), std::memory_order_relaxed);
    return ended;
}

std::exception_ptr CallsImpl::take_failure(Record &record)
{
    if (!record.has_failed.load(std::memory_order_acquire))
        return nullptr;
    Guard lock(failures_mutex_);
    record.has_failed.store(false, std::memory_order_relaxed);
    return std::exchange(record.failure, nullptr);
}

/* Whether all blocks wait for functions of the host that wait for calls: then none of these ever has a block. */
void CallsImpl::hold(const Hold &hold)
{
    const Target &awaited = *hold.awaited->target;
    Guard lock(holds_mutex_);
    holds_.push_back(hold);
    std::set<unsigned> waiting;
    for (const Hold &one : holds_)
        if (records_.at(one.record).target->how.gpu == awaited.how.gpu && !has_ended(*one.awaited))
            waiting.insert(one.record);
    const unsigned blocks = gpus_[awaited.how.gpu]->blocks;
    if (waiting.size() < blocks)
        return;
    std::erase(holds_, hold);
    throw Error("calls: '" + awaited.name + "' would never begin: all " + std::to_string(blocks) +
                " blocks of the GPU wait for functions of the host that wait for such calls. Give it more "
                "(CallOptions::blocks), or start() the call and do not wait for it there");
}

void CallsImpl::let_go(const Hold &hold)
{
    Guard lock(holds_mutex_);
    const auto found = std::ranges::find(holds_, hold);
    if (found != holds_.end())
        holds_.erase(found);
}

} // namespace ptsched::arena::detail
