// SPDX-License-Identifier: MIT
/* Calls that are launches of their own, with as many blocks as they are to have. */
#include "libptsched/arena/call/impl.hpp"
#include "libptsched/base/nested.hpp"

#include <algorithm>
#include <thread>

namespace ptsched::arena::detail {

void CallsImpl::make_spread(Gpu &gpu) const
{
    const std::string name = options_.table + "_spread";
    try {
        gpu.spread = options_.kernel(gpu.device, name);
        const auto sizes = gpu.spread->parameter_sizes();
        if (sizes && (sizes->size() != 1 || sizes->front() != sizeof(Spread)))
            throw Error("it has other parameters than one ptsched::arena::SpreadCall");
        gpu.spread->prepare({{1, 1, 1}, {1, 1, 1}, 0});
        gpu.queue = gpu.device.make_queue();
    } catch (const Error &) {
        gpu.spread.reset();
        gpu.no_spread = nested<Error>("calls: a call that is spread over blocks needs the kernel " + name +
                                          "(ptsched::arena::SpreadCall), which calls spread() of its functions",
                                      std::current_exception());
    }
}

void CallsImpl::prepare_spread(const Run &how)
{
    Gpu &gpu = *gpus_[how.gpu];
    if (!gpu.spread)
        std::rethrow_exception(gpu.no_spread);
    gpu.spread->prepare({{how.blocks, 1, 1}, {how.threads, 1, 1}, how.shared_bytes});
    if (gpu.has_turns)
        return;
    device::TurnCalls calls;
    calls.user = "calls";
    calls.library = "arena";
    auto turns = device::Turns::open(gpu.device, options_.attach, std::move(calls));
    gpu.has_turns = true;
    Guard lock(gpu.mutex);
    gpu.turns = std::move(turns);
}

device::Turns *Gpu::get_turns()
{
    Guard lock(mutex);
    return turns.get();
}

void CallsImpl::begin_spread(Record &record, const std::byte *arguments)
{
    const Target &target = *record.target;
    const Run &how = target.how;
    Gpu &gpu = *gpus_[how.gpu];
    Spread call{};
    call.header = {gpu.line.channel(), record.index, target.is_beside};
    call.number = target.number;
    call.result = record.beside;
    if (target.is_beside)
        std::memcpy(call.room, &record.beside, sizeof(record.beside));
    std::memcpy(target.is_beside ? static_cast<void *>(record.beside) : call.room, arguments, target.argument_bytes);
    const device::Geometry geometry{{how.blocks, 1, 1}, {how.threads, 1, 1}, how.shared_bytes};
    device::Turns *turns = gpu.get_turns();
    if (turns)
        turns->wait_to_begin();
    {
        /* The server does without it: a launch may last until kernels before it have got what they call of the host. */
        Guard lock(gpu.launch_mutex);
        try {
            const device::Exempt exempt(turns != nullptr);
            if (how.cooperative)
                gpu.queue->run_cooperative(*gpu.spread, geometry, {&call});
            else
                gpu.queue->run(*gpu.spread, geometry, {&call});
            record.end = gpu.queue->mark();
        } catch (...) {
            if (turns)
                turns->ended(false);
            throw;
        }
    }
    Guard lock(gpu.mutex);
    gpu.begun.push_back(record.end);
    gpu.begun_count.store(static_cast<unsigned>(gpu.begun.size()), std::memory_order_relaxed);
}

bool CallsImpl::await_spread(const Record &record, Duration most) const
{
    try {
        if (record.end->reached())
            return true;
        if (most == for_ever) {
            record.end->wait();
            return true;
        }
        for (const auto until = time_after(most); Clock::now() < until; std::this_thread::yield())
            if (record.end->reached())
                return true;
        return false;
    } catch (const Error &) {
        std::rethrow_exception(nested<CallFailure>("calls: " + describe(record.target->name, record.target->signature) +
                                                       ", which was spread over blocks, has failed",
                                                   std::current_exception()));
    }
}

/* Whose turn ends with the last of them. */
bool CallsImpl::look_after_spread(Gpu &gpu)
{
    if (!gpu.begun_count.load(std::memory_order_relaxed))
        return false;
    device::Turns *turns = gpu.get_turns();
    Guard lock(gpu.mutex);
    const std::size_t ended = std::erase_if(gpu.begun, [&](const device::MarkerPtr &end) {
        bool has = true;
        try {
            has = end->reached();
        } catch (const Error &) {
            /* Who waits for it is told. */
        }
        if (has && turns)
            turns->ended();
        return has;
    });
    gpu.begun_count.store(static_cast<unsigned>(gpu.begun.size()), std::memory_order_relaxed);
    return ended;
}

} // namespace ptsched::arena::detail
